/** `npm run errors`: writes docs/errors.md from the code; `-- --list` prints the messages alone, a line each. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { BAD_CALLS } from "./errors/bad_input.ts";
import { errorOf, thrownBy } from "./errors/case.ts";
import { CASES, errorsPage } from "./errors/page.ts";
import { ROOT } from "./support/project.ts";

const PAGE = "docs/errors.md";

async function list(): Promise<void> {
  for (const given of CASES) console.log(String(await errorOf(given)));
  for (const call of BAD_CALLS) console.log(String(await thrownBy(call)));
}

async function write(): Promise<void> {
  writeFileSync(join(ROOT, PAGE), await errorsPage());
  console.log(`wrote ${PAGE}`);
}

if (import.meta.main) await (process.argv.includes("--list") ? list() : write());
