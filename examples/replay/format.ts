import { TICKS_PER_MINUTE, TICKS_PER_SECOND } from "./trace.ts";

/** A number with commas between thousands and a fixed number of decimals. The same text on every runtime. */
export function grouped(value: number, decimals = 0): string {
  const [whole = "", fraction] = value.toFixed(decimals).split(".");
  const withCommas = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? withCommas : `${withCommas}.${fraction}`;
}

/** A count and its noun: `1 job`, `2 jobs`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** A part of a whole, 0 to 1, as a percentage. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/** A length of time for people: `58 min 22 s`, `2.400 s`. */
export function duration(ticks: number): string {
  if (ticks < TICKS_PER_MINUTE) return `${(ticks / TICKS_PER_SECOND).toFixed(3)} s`;
  const seconds = Math.round(ticks / TICKS_PER_SECOND);
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours > 0 ? `${grouped(hours)} h ${minutes} min` : `${minutes} min ${seconds % 60} s`;
}
