import { Admission, Demand, STDIOEndpoint, STDIOEndpoints } from "../../mod.ts";

const files = new STDIOEndpoint({ command: "npx", args: ["-y", "files-server"], name: "files" });
const endpoints = new STDIOEndpoints({
  open: ({ command, args }) => ({ call: (tool: string) => `${tool} by ${[command, ...args].join(" ")}` }),
  close: () => {}, // End the subprocess here.
});
const admission = new Admission().start();

const demand = new Demand();
for (const account of endpoints.accounts(files)) demand.add(account);
await admission.run(demand, async () => {
  const client = await endpoints.client(files);
  console.log(client.call("read"));
});
await endpoints.shutdown();
