import { show } from "../../invariant.ts";
import type { ElasticWindowOptions } from "../window_options.ts";

/** What the window of a service may be given: every option of a window; what is left out is the service's own. */
export type ServiceWindowOptions = Partial<ElasticWindowOptions>;

/**
 * The options of a service's window, its defaults filled in. An option that is `undefined` counts as left out.
 *
 * @throws TypeError when the options given are no object.
 */
export function serviceWindow(
  name: string,
  defaults: ElasticWindowOptions,
  options: ServiceWindowOptions,
): ElasticWindowOptions {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(
      `Cannot make window ${show(name)}: options are ${
        show(options)
      }, they should be an object of window options`,
    );
  }
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(given) };
}
