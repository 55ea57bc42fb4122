/** Most characters of an address: IPv6 with an IPv4 end has 45, and brackets, a port and a zone may come to that. */
const MAX_ADDRESS_CHARS = 100;

/** An address as numbers: 4 bytes of IPv4, or 8 groups of 16 bits of IPv6. */
export interface IpAddress {
  readonly version: 4 | 6;
  readonly parts: readonly number[];
}

/**
 * Reads `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]:80`, `fe80::1%eth0` (RFC 4291, section 2.2; the zone is
 * left out). An IPv4 address that is mapped into IPv6 (`::ffff:192.0.2.1`) is read as what it is, IPv4. Null for anything
 * else: no number with a leading zero, which some read as octal, and none in hexadecimal. Never throws; longer texts than an
 * address can have are not looked at.
 */
export function parseIpAddress(text: unknown): IpAddress | null {
  if (typeof text !== "string" || text.length > MAX_ADDRESS_CHARS) return null;
  const trimmed = text.trim();
  if (trimmed.startsWith("[")) return bracketed(trimmed);
  const colon = trimmed.indexOf(":");
  if (colon < 0) return ipv4(trimmed);
  if (trimmed.indexOf(":", colon + 1) >= 0) return ipv6(trimmed);
  return isPort(trimmed.slice(colon + 1)) ? ipv4(trimmed.slice(0, colon)) : null;
}

/** The same for every way to write an address: IPv6 as RFC 5952 says, small letters, the longest run of zeros left out. */
export function ipAddressText({ version, parts }: IpAddress): string {
  if (version === 4) return parts.join(".");
  const groups = parts.map((part) => part.toString(16));
  const { start, length } = longestZeros(parts);
  if (length < 2) return groups.join(":");
  return `${groups.slice(0, start).join(":")}::${groups.slice(start + length).join(":")}`;
}

/** An IPv6 address with all but its first so many bits at zero. */
export function networkOf({ version, parts }: IpAddress, prefixBits: number): IpAddress {
  const masked = parts.map((part, index) => {
    const dropped = Math.min(Math.max((index + 1) * 16 - prefixBits, 0), 16);
    return (part >> dropped) << dropped;
  });
  return { version, parts: masked };
}

function bracketed(text: string): IpAddress | null {
  const end = text.indexOf("]");
  if (end < 0) return null;
  const rest = text.slice(end + 1);
  if (rest !== "" && !(rest.startsWith(":") && isPort(rest.slice(1)))) return null;
  return ipv6(text.slice(1, end));
}

function isPort(text: string): boolean {
  return /^[0-9]{1,5}$/.test(text);
}

function ipv4(text: string): IpAddress | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every(isByte)) return null;
  return { version: 4, parts: parts.map(Number) };
}

function isByte(text: string): boolean {
  return /^(0|[1-9][0-9]{0,2})$/.test(text) && Number(text) <= 255;
}

function ipv6(text: string): IpAddress | null {
  const [address = ""] = text.split("%", 1);
  const halves = address.split("::");
  if (halves.length > 2) return null;
  const [head, tail] = [groupsOf(halves[0]!, halves.length === 1), groupsOf(halves[1] ?? "", true)];
  if (head === null || tail === null) return null;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  return unmapped([...head, ...new Array<number>(missing).fill(0), ...tail]);
}

/** Groups of 16 bits; at the end of an address the last two may be written as IPv4. Null when one is none. */
function groupsOf(text: string, isEnd: boolean): number[] | null {
  if (text === "") return [];
  const groups: number[] = [];
  const written = text.split(":");
  for (const [index, group] of written.entries()) {
    const embedded = isEnd && index === written.length - 1 ? ipv4(group) : null;
    if (embedded !== null) {
      const [a, b, c, d] = embedded.parts as [number, number, number, number];
      groups.push(a * 256 + b, c * 256 + d);
    } else if (/^[0-9a-fA-F]{1,4}$/.test(group)) groups.push(parseInt(group, 16));
    else return null;
  }
  return groups;
}

/** RFC 4291, section 2.5.5.2: five groups of zeros and one of ones stand before an IPv4 address. */
function unmapped(parts: readonly number[]): IpAddress {
  const isMapped = parts[5] === 0xffff && parts.slice(0, 5).every((part) => part === 0);
  if (!isMapped) return { version: 6, parts };
  const [high, low] = [parts[6]!, parts[7]!];
  return { version: 4, parts: [high >> 8, high & 255, low >> 8, low & 255] };
}

/** The first of the longest runs of zeros. */
function longestZeros(parts: readonly number[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 };
  let length = 0;
  parts.forEach((part, index) => {
    length = part === 0 ? length + 1 : 0;
    if (length > longest.length) longest = { start: index + 1 - length, length };
  });
  return longest;
}
