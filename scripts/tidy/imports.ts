/** The check of the import table: where an import leads, and whether the importing file's zone may go there. */
import { posix } from "node:path";
import { zoneOf } from "./layout.ts";
import { isNode, type Node, type Source, walk } from "./source.ts";

/** One broken rule. */
export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** Every module a file names: static, dynamic, re-exported and in types. */
function importsOf(source: Source): { specifier: string; line: number }[] {
  const found: { specifier: string; line: number }[] = [];
  const add = (value: unknown, node: Node): void => {
    if (isNode(value) && value.type === "StringLiteral") {
      found.push({ specifier: String(value["value"]), line: node.loc.start.line });
    }
  };
  walk(source.body, (node) => {
    if (/^(Import|ExportNamed|ExportAll)Declaration$/.test(node.type)) add(node["source"], node);
    if (node.type === "ImportExpression") add(node["source"], node);
    if (node.type === "TSImportType") add(node["argument"], node);
    const callee = node["callee"];
    if (node.type === "CallExpression" && isNode(callee) && callee.type === "Import") {
      add((node["arguments"] as unknown[])[0], node);
    }
  });
  return found;
}

function isPackageAllowed(specifier: string, packages: readonly string[]): boolean {
  return packages.some((allowed) =>
    allowed === "*" || allowed === specifier ||
    (allowed.endsWith("*") && specifier.startsWith(allowed.slice(0, -1)))
  );
}

/** Imports of one file that the table does not allow. */
export function checkImports(source: Source): Finding[] {
  const zone = zoneOf(source.path);
  if (zone === null) {
    return [{
      path: source.path,
      line: 1,
      text: "belongs to no part of the layout: see docs/architecture.md",
    }];
  }
  return importsOf(source).flatMap(({ specifier, line }) => {
    if (!specifier.startsWith(".")) {
      if (isPackageAllowed(specifier, zone.packages)) return [];
      return [{ path: source.path, line, text: `imports "${specifier}", which ${zone.name} may not` }];
    }
    const target = posix.normalize(posix.join(posix.dirname(source.path), specifier));
    const other = zoneOf(target);
    if (zone.zones.includes("*") || (other !== null && zone.zones.includes(other.name))) return [];
    return [{ path: source.path, line, text: `imports ${target}, which ${zone.name} may not` }];
  });
}
