import { EPO_SERVICES, type EPOService } from "./epo_service.ts";

/**
 * Response headers as the runtimes have them: those of `fetch`, a Map or another list of pairs, or node:http's object of
 * names, where a repeated header may be an array.
 */
export type EPOHeaders =
  | Iterable<readonly [string, string]>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** How much of a service's limit EPO says is used, from little to more than there is. */
type Colour = "green" | "yellow" | "red" | "black";

/** Lower case; what is looked for has as many characters. */
const HEADER = "x-throttling-control";
/** Most headers that are looked at. */
export const MAX_HEADERS = 1000;
/** Most characters of the value that are read; EPO's own has about 90. */
export const MAX_VALUE_CHARS = 1000;

const SERVICES: ReadonlyMap<string, EPOService> = new Map(
  EPO_SERVICES.map((service) => [service.toLowerCase(), service]),
);
const COLOURS: readonly Colour[] = ["green", "yellow", "red", "black"];

/**
 * What a response says in `X-Throttling-Control`, such as `busy (images=green:100, search=yellow:15)`: colours by service.
 * Never throws: what is not understood is left out. Only the first header counts, also where fetch has joined several with
 * commas: reading ends at the first closing parenthesis, and a service is heard once.
 */
export function epoThrottling(headers: unknown): ReadonlyMap<EPOService, Colour> {
  const said = new Map<EPOService, Colour>();
  const value = headerOf(headers).slice(0, MAX_VALUE_CHARS).toLowerCase();
  const [first = ""] = value.split(")", 1);
  for (const item of first.replaceAll("(", ",").split(",")) {
    const equals = item.indexOf("=");
    if (equals < 0) continue;
    const service = SERVICES.get(item.slice(0, equals).trim());
    const [name = ""] = item.slice(equals + 1).split(":", 1);
    const colour = COLOURS.find((each) => each === name.trim());
    if (service !== undefined && colour !== undefined && !said.has(service)) said.set(service, colour);
  }
  return said;
}

/** The first header of the name, blank when there is none. */
function headerOf(headers: unknown): string {
  if (typeof headers !== "object" || headers === null) return "";
  const pairs = Symbol.iterator in headers ? headers as Iterable<unknown> : Object.entries(headers);
  let looked = 0;
  for (const pair of pairs) {
    if (++looked > MAX_HEADERS) break;
    if (Array.isArray(pair) && isOurs(pair[0])) return textOf(pair[1]);
  }
  return "";
}

function isOurs(name: unknown): boolean {
  return typeof name === "string" && name.length === HEADER.length && name.toLowerCase() === HEADER;
}

function textOf(value: unknown): string {
  const first = Array.isArray(value) ? value[0] : value;
  return typeof first === "string" ? first : "";
}
