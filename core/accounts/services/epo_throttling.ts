import { headerLookup } from "../../models/headers/header_view.ts";
import { quietly } from "../../models/headers/quietly.ts";
import { EPO_SERVICES, type EPOService } from "./epo_service.ts";

/** How much of a service's limit EPO says is used, from little to more than there is. */
type Colour = "green" | "yellow" | "red" | "black";

const HEADER = "x-throttling-control";
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
  const found = quietly(() => firstOf(headerLookup(headers)(HEADER)));
  const value = typeof found === "string" ? found.slice(0, MAX_VALUE_CHARS).toLowerCase() : "";
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

function firstOf(values: unknown): unknown {
  return Array.isArray(values) ? values[0] : values;
}
