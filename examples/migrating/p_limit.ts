import { Admission, CountingGate, Demand } from "../../mod.ts";

let most = 0;
/** Stands for a request. */
async function fetchPage(url: string): Promise<string> {
  most = Math.max(most, pages.currentInUse);
  return await Promise.resolve(`the page ${url}`);
}

const pages = new CountingGate("pages", 8);
const admission = new Admission().start();
const onePage = new Demand().add(pages); // Made once, asked for as often as you like.

const urls = Array.from({ length: 20 }, (_, n) => `https://example.com/${n}`);
const bodies = await Promise.all(urls.map((url) => admission.run(onePage, () => fetchPage(url))));

console.log(`${bodies.length} pages, ${most} at a time`);
console.log(pages.currentInUse, admission.queueSize); // limit.activeCount, limit.pendingCount
pages.setCapacity(16); // limit.concurrency = 16
