/** Draws docs/hostage.svg: `deno run -A examples/hostage/write.ts`, or `bun examples/hostage/write.ts`. */
import { writeFileSync } from "node:fs";
import { drawHostages } from "./draw.ts";

writeFileSync(new URL("../../docs/hostage.svg", import.meta.url), await drawHostages());
