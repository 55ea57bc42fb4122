import { show } from "../../invariant.ts";
import { checkOptionNames } from "../../option_names.ts";
import { type ElasticWindowOptions, WINDOW_OPTIONS } from "../window_options.ts";

/** What the window of a service may be given: every option of a window; what is left out is the service's own. */
export type ServiceWindowOptions = Partial<ElasticWindowOptions>;

/**
 * The options of a service's window, its defaults filled in. An option that is `undefined` counts as left out.
 *
 * @throws TypeError when the options given are no object, or name one that a window has not.
 */
export function serviceWindow(
  name: string,
  defaults: ElasticWindowOptions,
  options: ServiceWindowOptions,
): ElasticWindowOptions {
  checkOptionNames(`Cannot make window ${show(name)}:`, options, WINDOW_OPTIONS);
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(given) };
}
