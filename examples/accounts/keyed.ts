import {
  Admission,
  clientAddress,
  CountingGate,
  Demand,
  KeyedRateLimiter,
  KeysFullError,
  TokenBucketRateLimiter,
} from "../../mod.ts";

// 60 requests a minute for each client, and tokens for each tenant as its plan says.
const clients = new KeyedRateLimiter(
  "clients",
  (address: string) => new TokenBucketRateLimiter(`client ${address}`, { tpm: 60, rpm: 60 }),
  { maxKeys: 10_000 },
);
const plans: Readonly<Record<string, number>> = { acme: 90_000 };
const tenants = new KeyedRateLimiter(
  "tenants",
  (tenant: string) => new TokenBucketRateLimiter(tenant, { tpm: plans[tenant] ?? 6_000, rpm: 60 }),
  { maxKeys: 1_000, beyond: "share" },
);
const http = new CountingGate("http", 64);
const admission = new Admission().start();

/** Behind one proxy of ours. The peer is what the server tells: `info.remoteAddr` on Deno, `requestIP` on Bun. */
async function handle(request: Request, peer: string): Promise<string> {
  const client = clientAddress({ peer, headers: request.headers, trustedProxies: 1 });
  if (client === null) return "400 nobody knows who asks";
  try {
    const demand = new Demand().add(clients, client).add(tenants, "acme", 1_800).add(http);
    using _grant = await admission.admit(demand, { timeoutMs: 1_000 });
    return await Promise.resolve(`200 for ${client}`);
  } catch (error) {
    if (error instanceof KeysFullError) return "503 too many clients at a time";
    throw error;
  }
}

const headers = { "X-Forwarded-For": "6.6.6.6, 2001:db8:0:7:1:2:3:4" }; // The client wrote the first, the proxy the second.
console.log(await handle(new Request("https://example.com/", { headers }), "10.0.0.1:4711"));
console.log(clients.accountFor("2001:db8:0:7::/64").limiterName, clients.size, tenants.size);
