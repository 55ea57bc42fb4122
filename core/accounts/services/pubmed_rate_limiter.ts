import { serviceWindow, type ServiceWindowOptions } from "./service_window.ts";
import { ElasticWindowRateLimiter } from "../elastic_window.ts";

/** What EW-45 makes of the class's name, in full: a minifier would shorten it. */
const NAME = "PubMed";

/**
 * PubMed through NCBI's E-utilities: 10 requests in any 1,000 ms, named `PubMed`. An amount is one slot.
 *
 * A job takes one slot, whatever its calls; one that makes many in a row had better ask for as many (`add(pubmed, n)`).
 * NCBI counts requests: 10 a second from those who send an API key, 3 from others, and 429 beyond
 * (https://support.nlm.nih.gov/kbArticle/?pn=KA-05510). The default is that of a key; without one make it with
 * `{ maxRequests: 3 }`, with an enhanced key with what NCBI granted.
 */
export class PubMedRateLimiter extends ElasticWindowRateLimiter {
  /**
   * An empty window for one key.
   *
   * @param options of the window; none is needed.
   * @throws TypeError or RangeError naming the option, its value and what would do.
   */
  constructor(options: ServiceWindowOptions = {}) {
    super(NAME, serviceWindow(NAME, { maxRequests: 10, baseWindowMs: 1000 }, options));
  }
}
