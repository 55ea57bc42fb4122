// What the trees of the classes must have gone through, by their rule: places are given out one after the other; a full tree is
// packed when half of it or more is free, and doubled otherwise. It only counts, for the coverage floor.

import { FIRST_TREE_BITS } from "../../assembly/layout.ts";

export class Places {
  readonly #cover: (what: string) => void;
  readonly #classes = new Map<string, { size: number; used: number; bits: number }>();

  constructor(cover: (what: string) => void) {
    this.#cover = cover;
  }

  join(name: string): void {
    const at = this.#classes.get(name) ?? { size: 0, used: 0, bits: FIRST_TREE_BITS };
    this.#classes.set(name, at);
    if (at.used === 1 << at.bits) {
      const isCrowded = at.size > 1 << (at.bits - 1);
      this.#cover(isCrowded ? "tree doubled" : "tree packed");
      if (isCrowded) at.bits++;
      at.used = at.size;
    }
    at.used++;
    at.size++;
    if (at.bits === 7 && at.size === 65) this.#cover("tree of three levels");
    if (at.bits === 10 && at.size === 513) this.#cover("tree of four levels");
  }

  leave(name: string): void {
    const at = this.#classes.get(name)!;
    if (--at.size === 0) this.#classes.delete(name);
  }
}
