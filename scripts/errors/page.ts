/** docs/errors.md as text. */
import { refusalOf } from "../../adapters/hono/refusals.ts";
import { AdmissionError } from "../../mod.ts";
import { ACCOUNT_CASES } from "./account_cases.ts";
import { ADMISSION_CASES } from "./admission_cases.ts";
import { BAD_CALLS } from "./bad_input.ts";
import { codeOf, type ErrorCase, errorOf, thrownBy } from "./case.ts";
import { type ErrorClass, errorClasses } from "./classes.ts";
import { JOB_CASES } from "./job_cases.ts";
import { UPSTREAM_CASES } from "./upstream_cases.ts";

/** All cases, in the order in which the page has classes and cases. */
export const CASES: readonly ErrorCase[] = [
  ...ADMISSION_CASES,
  ...ACCOUNT_CASES,
  ...JOB_CASES,
  ...UPSTREAM_CASES,
];

/** A case that was met. */
interface Met {
  readonly given: ErrorCase;
  readonly error: Error;
  readonly code: string;
  /** What the Hono adapter makes of it; 500 when it leaves it to the app. */
  readonly status: number;
}

const HEAD = `# Errors

Written by \`npm run errors\` from the code and from small programs that meet each error; a test compares it. Messages are for
people and may change, so branch on the class or on \`code\`.

There are three kinds:

- **You asked wrongly.** A \`TypeError\` or \`RangeError\`, at once, before anything changed: [bad input](#bad-input).
- **The world says no.** An \`AdmissionError\` with a \`code\`, the facts as fields, and a \`cause\` where there is one. "Not now"
  (\`TimeoutError\`, \`QueueFullError\`, \`KeysFullError\`) carries \`retryAfterMs\`, which is null when no time is known. "Never"
  (\`UncorrectableError\`) has a message that a model can read; as a tool's answer it can be handed to one.
- **You left.** An aborted \`signal\` rejects with \`signal.reason\`, untouched, and is no error of this library.

Several accounts that fail while one grant is settled make an \`AggregateError\` of what they threw; everything else was settled.
In a template \`<...>\` stands for what differs. The HTTP status is that of the [Hono adapter](hono.md#refusals): 500 goes to the
app's own error handler.
`;

/** Meets every error and writes the page. @throws Error when one is not what its case says, or a class has no case. */
export async function errorsPage(): Promise<string> {
  const met: Met[] = [];
  // One after another: cases share accounts.
  for (const given of CASES) met.push(await meet(given));
  const order = [...new Set(CASES.map(({ type }) => type))];
  const classes = errorClasses().sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  const sections = classes.map((each) => sectionOf(each, met));
  return [HEAD, overview(classes, met), ...sections, await badInput()].join("\n");
}

async function meet(given: ErrorCase): Promise<Met> {
  const error = await errorOf(given);
  const refusal = error instanceof AdmissionError ? refusalOf(error, given.demand ?? null, () => []) : null;
  return { given, error, code: codeOf(error) ?? "", status: refusal?.problem.status ?? 500 };
}

/** A row for each class with each of its codes. */
function overview(classes: readonly ErrorClass[], met: readonly Met[]): string {
  const rows = classes.flatMap(({ name }) => {
    const own = met.filter(({ given }) => given.type === name);
    if (own.length === 0) throw new Error(`Cannot write the page: no case meets ${name}`);
    return [...new Set(own.map(({ code }) => code))].map((code) => {
      const statuses = own.filter((each) => each.code === code).map(({ status }) => status);
      return [`[${name}](#${name.toLowerCase()})`, `\`${code}\``, [...new Set(statuses)].join(" or ")];
    });
  });
  return tableOf(["class", "code", "HTTP status"], rows);
}

function sectionOf({ name, base, doc, fields }: ErrorClass, met: readonly Met[]): string {
  const cases = met.filter(({ given }) => given.type === name).map(caseText);
  const inherits = base === "AdmissionError"
    ? "Extends `AdmissionError`."
    : `Extends [${base}](#${base.toLowerCase()}) and has its fields.`;
  const rows = fields.map((field) => [`\`${field.name}\``, `\`${field.type}\``, field.doc]);
  const table = rows.length === 0 ? [] : [tableOf(["field", "type", "what"], rows)];
  return [`## ${name}\n`, `${doc} ${inherits}\n`, ...table, ...cases].join("\n");
}

function caseText({ given, error, code, status }: Met): string {
  const lines = given.template === error.message ? [error.message] : [given.template, error.message];
  const facts = `(\`${code}\`, ${status})`;
  return `**${given.when}** ${facts}. ${given.remedy}\n\n\`\`\`text\n${lines.join("\n")}\n\`\`\`\n`;
}

async function badInput(): Promise<string> {
  const met = await Promise.all(BAD_CALLS.map((call) => thrownBy(call)));
  const lines = met.map((error) => {
    if (error instanceof TypeError || error instanceof RangeError) return `${error.name}: ${error.message}`;
    throw new Error(`Cannot show bad input: ${error} is no TypeError and no RangeError`);
  });
  return `## Bad input

A \`TypeError\` when a value is of the wrong kind, a \`RangeError\` when it is of the right kind and out of range. Constructors,
\`Demand.add\`, \`tryAdmit\` and settling throw it; \`admit\` and \`run\` reject with it and never throw. Nothing has changed by then.
The message names what cannot be done, the argument, its value and what would do. It is a bug of the calling program: HTTP
status 500, and no retry. What clients send (headers, bodies, keys) never leads to one.

\`\`\`text
${lines.join("\n")}
\`\`\`
`;
}

/** A table as the formatter writes it: columns padded to their longest cell. */
function tableOf(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...cells.map((row) => row[column]!.length))
  );
  const line = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`;
  return [line(titles), line(widths.map((width) => "-".repeat(width))), ...cells.map(line), ""].join("\n");
}
