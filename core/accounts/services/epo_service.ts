import { show } from "../../invariant.ts";

/** The services of EPO's Open Patent Services, each with limits of its own. */
export type EPOService = "SEARCH" | "RETRIEVAL" | "INPADOC" | "IMAGES" | "OTHER";

/** All of them, in the order in which they are asked. */
export const EPO_SERVICES: readonly EPOService[] = ["SEARCH", "RETRIEVAL", "INPADOC", "IMAGES", "OTHER"];

/** Whether it is one, written as we write it. */
export function isEPOService(value: unknown): value is EPOService {
  return (EPO_SERVICES as readonly unknown[]).includes(value);
}

/** @throws TypeError when it is no string, RangeError when it is no service. */
export function checkedEPOService(what: string, value: unknown): EPOService {
  if (isEPOService(value)) return value;
  const text = `${what} ${show(value)}, it should be one of ${EPO_SERVICES.join(", ")}`;
  throw typeof value === "string" ? new RangeError(text) : new TypeError(text);
}

/** The name of a service's window: `epo:search`. */
export function epoLimiterName(service: EPOService): string {
  return `epo:${service.toLowerCase()}`;
}
