import { checkedNumber } from "./checked_number.ts";
import { show } from "./invariant.ts";
import { checkOptionNames, type OptionNames } from "./option_names.ts";
import { headerLookup, type HeaderSource } from "./models/headers/header_view.ts";
import { quietly } from "./models/headers/quietly.ts";
import { ipAddressText, networkOf, parseIpAddress } from "./ip_address.ts";

/** Most proxies that may be trusted. */
const MAX_PROXIES = 32;

/** Most characters that are read of the header for each trusted proxy: more than an address with its port can have. */
const CHARS_PER_PROXY = 128;

/** Bits of an IPv6 address that tell clients apart when nobody says otherwise. */
const IPV6_PREFIX = 64;

/** What is known of who sent a request. */
export interface ClientAddressFacts {
  /**
   * The address at the other end of the connection as the server tells it, with or without a port. Where a platform puts the
   * client's address into a header of its own that no client can set (`CF-Connecting-IP`), that value.
   */
  peer: string | null | undefined;
  /** The request's headers, such as `request.headers` or a record; `X-Forwarded-For` is read when proxies are trusted. */
  headers?: HeaderSource | null;
  /**
   * How many proxies of your own stand before the server and each append the address of whom they hear to `X-Forwarded-For`:
   * a whole number from 0 to 32; 0 when left out. One too many believes what clients write.
   */
  trustedProxies?: number;
  /** Bits of an IPv6 address that count: a whole number from 1 to 128; 64 when left out. Many clients have a /64, some a /56. */
  ipv6Prefix?: number;
}

const FACTS: OptionNames<ClientAddressFacts> = {
  peer: true,
  headers: true,
  trustedProxies: true,
  ipv6Prefix: true,
};

/**
 * A key for a client: its IPv4 address, or the network of its IPv6 address such as `2001:db8:0:7::/64`, because who has one
 * address of a network has all of them. The same for every way in which an address is written.
 *
 * Behind n trusted proxies it is the n-th entry of `X-Forwarded-For` from the right; what stands to the left of it was written
 * by the client or by who came before, and is not read. Where that entry is missing or no address, it is the peer's, so that a
 * request which did not come through the proxies is counted as its sender's. Null where the peer's address is unknown too (a
 * unix socket, a request made by a test). Whatever a request says, it does not throw, and reads at most 128 characters for
 * each proxy.
 *
 * Reading from the right is what https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/X-Forwarded-For advises.
 *
 * @throws TypeError or RangeError for a wrong number of proxies or bits, and for headers that are no object.
 */
export function clientAddress(facts: ClientAddressFacts): string | null {
  const { peer, headers, trustedProxies, ipv6Prefix } = checkedFacts(facts);
  const forwarded = trustedProxies === 0 ? null : forwardedFor(headers, trustedProxies);
  const address = parseIpAddress(forwarded) ?? parseIpAddress(peer);
  if (address === null) return null;
  if (address.version === 4 || ipv6Prefix === 128) return ipAddressText(address);
  return `${ipAddressText(networkOf(address, ipv6Prefix))}/${ipv6Prefix}`;
}

/** The n-th entry from the right; null when there are fewer, or somebody of the last n wrote more than an address. */
function forwardedFor(headers: HeaderSource | null, proxies: number): string | null {
  const value = quietly(() => joined(headerLookup(headers)("x-forwarded-for"), proxies)) ?? null;
  if (value === null) return null;
  const read = value.slice(-proxies * CHARS_PER_PROXY);
  const entries = read.split(",");
  // What is cut off may begin within the entry that stands first.
  const whole = read.length < value.length ? entries.slice(1) : entries;
  return whole.at(-proxies) ?? null;
}

/** What a header of several values says, as `Headers` joins them: of as many as could matter, the last ones. */
function joined(value: unknown, proxies: number): string | null {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return null;
  const last: unknown[] = value.slice(-proxies);
  return last.every((each) => typeof each === "string") ? last.join(",") : null;
}

function checkedFacts(
  facts: ClientAddressFacts,
): { peer: unknown; headers: HeaderSource | null; trustedProxies: number; ipv6Prefix: number } {
  const what = "Cannot tell a client's address:";
  checkOptionNames(what, facts, FACTS);
  const { peer, headers = null, trustedProxies = 0, ipv6Prefix = IPV6_PREFIX } = facts;
  checkedNumber(`${what} trustedProxies`, trustedProxies, { least: 0, most: MAX_PROXIES });
  checkedNumber(`${what} ipv6Prefix`, ipv6Prefix, { least: 1, most: 128 });
  if (typeof headers !== "object") {
    throw new TypeError(`${what} headers are ${show(headers)}, they should be Headers or a record of them`);
  }
  return { peer, headers, trustedProxies, ipv6Prefix };
}
