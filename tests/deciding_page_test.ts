// docs/deciding.md: what it quotes is what `npm run explain` prints.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "@std/testing/bdd";
import { SCENARIOS } from "../examples/explain/scenarios.ts";
import { Stage } from "../examples/explain/stage.ts";
import { storyText } from "../examples/explain/text.ts";

const PAGE = new URL("../docs/deciding.md", import.meta.url);

describe("The page of how admission decides", () => {
  const page = readFileSync(PAGE, "utf8");

  it("quotes every scenario whole, step after step", async () => {
    const quoted = [...page.matchAll(/```text\n([\s\S]*?)```/g)].map((found) => found[1]!);
    const printed: string[] = [];
    for (const scenario of SCENARIOS) {
      const stage = new Stage();
      await scenario.play(stage);
      printed.push(storyText(scenario, stage.end(), (heading) => heading));
    }
    assert.equal(quoted.join("\n"), printed.join("\n"));
  });

  it("says how to print each", () => {
    for (const { name } of SCENARIOS) assert.ok(page.includes(`npm run explain -- ${name}\n`), name);
  });
});
