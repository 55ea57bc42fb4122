/** Longest name that is told, in UTF-16 code units: names may come from requests, and headers have a limit. */
const MAX_NAME_LENGTH = 100;
/** The largest integer of a structured field (RFC 9651, section 3.3.1). */
const MAX_INTEGER = 999_999_999_999_999;

const utf8 = new TextEncoder();

/**
 * A name as headers and problems tell it: what is not printable ASCII, and `%`, stands as percent-encoded UTF-8, so that two
 * names stay two. Cut to 100 code units.
 */
export function plainName(name: string): string {
  const cut = name.length > MAX_NAME_LENGTH ? name.slice(0, MAX_NAME_LENGTH) : name;
  return /^[ -$&-~]*$/.test(cut) ? cut : [...utf8.encode(cut)].map(plainByte).join("");
}

function plainByte(byte: number): string {
  if (byte >= 0x20 && byte <= 0x7e && byte !== 0x25) return String.fromCharCode(byte);
  return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}

/** A String of a structured field (RFC 9651, section 4.1.6). `text` is printable ASCII. */
export function fieldString(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** An Integer of a structured field that counts something: whole, from 0, and in range. */
export function fieldInteger(count: number): string {
  return String(Math.min(Math.max(Math.trunc(count), 0), MAX_INTEGER));
}
