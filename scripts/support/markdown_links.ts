/** The links of Markdown pages, and where they lead. */

/** A relative link: the page that has it, and what it says. */
export interface Link {
  readonly page: string;
  /** As written, with its anchor. */
  readonly target: string;
}

/** What a page says beside its code. */
function prose(text: string): string {
  return text.replace(/^( *)(`{3,})[^\n]*\n[\s\S]*?^\1\2 *$/gm, "").replace(/`[^`\n]*`/g, "``");
}

/** The links of a page that lead into this tree: `[text](target)`, pictures, and `[label]: target`. */
export function relativeLinks(page: string, text: string): Link[] {
  const found = [...prose(text).matchAll(/\]\(<?([^)>\s]+)>?(?: "[^"]*")?\)|^\[[^\]]+\]: (\S+)/gm)];
  return found.map(([, inline, defined]) => inline ?? defined!)
    .filter((target) => !/^[a-z][a-z+.-]*:/i.test(target))
    .map((target) => ({ page, target }));
}

/** The anchors that GitHub gives to the headings of a page. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (
    const [, heading] of text.replace(/^(`{3,})[^\n]*\n[\s\S]*?^\1 *$/gm, "").matchAll(/^#{1,6} +(.+)$/gm)
  ) {
    const words = heading!.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").trim().toLowerCase();
    const slug = words.replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-");
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

/**
 * The links that lead nowhere, as `page: target`.
 *
 * @param read the text of a path below the root, null when there is nothing; a folder is an empty text.
 */
export function deadLinks(pages: readonly string[], read: (path: string) => string | null): string[] {
  const links = pages.flatMap((page) => relativeLinks(page, read(page) ?? ""));
  return links.filter((link) => !leadsSomewhere(link, read)).map(({ page, target }) => `${page}: ${target}`);
}

function leadsSomewhere(link: Link, read: (path: string) => string | null): boolean {
  const path = pathOf(link);
  const text = read(path);
  if (text === null) return false;
  const anchor = link.target.split("#")[1];
  return anchor === undefined || !path.endsWith(".md") || anchorsOf(text).has(anchor);
}

/** What can be read from a page on, by its links and theirs: paths, the page's own included. */
export function reachedFrom(page: string, read: (path: string) => string | null): Set<string> {
  const reached = new Set([page]);
  for (const path of reached) {
    if (!path.endsWith(".md")) continue;
    for (const link of relativeLinks(path, read(path) ?? "")) reached.add(pathOf(link));
  }
  return reached;
}

/** Where a link leads, from the root, without its anchor. */
function pathOf({ page, target }: Link): string {
  const [file = ""] = target.split("#");
  return file === "" ? page : decodeURI(new URL(file, `file:///${page}`).pathname.slice(1));
}

/** The page with the words alone of links and pictures that lead to what `has` does not know. */
export function withoutDeadLinks(page: string, text: string, has: (path: string) => boolean): string {
  const isKept = (target: string) => /^[a-z][a-z+.-]*:/i.test(target) || has(pathOf({ page, target }));
  return text.replace(
    /^( *)(`{3,})[^\n]*\n[\s\S]*?^\1\2 *$|!?\[([^\]]*)\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$|`[^`\n]*`/gm,
    (
      whole,
      _indent,
      _fence,
      words: string | undefined,
      target: string | undefined,
      defined: string | undefined,
    ) => {
      if (target !== undefined) return isKept(target) ? whole : words!;
      return defined === undefined || isKept(defined) ? whole : "";
    },
  );
}
