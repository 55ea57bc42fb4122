/** A parsed source file, and a walk over its tree that needs to know nothing about the kinds of nodes. */
import { parse } from "@babel/parser";

/** A node of the tree, as far as the checks look at it. */
export interface Node {
  readonly type: string;
  readonly loc: { readonly start: { readonly line: number }; readonly end: { readonly line: number } };
  readonly [field: string]: unknown;
}

/** A comment of the file. */
export interface Comment {
  readonly type: "CommentBlock" | "CommentLine";
  readonly value: string;
  readonly loc: Node["loc"];
}

/** One file, read and parsed. */
export interface Source {
  readonly path: string;
  readonly lines: number;
  readonly body: readonly Node[];
  readonly comments: readonly Comment[];
  /** What the parser did not understand. */
  readonly errors: readonly { readonly line: number; readonly text: string }[];
}

/** Parses TypeScript or AssemblyScript; an unreadable file gives errors, never a throw. */
export function parseSource(path: string, text: string): Source {
  const lines = text.endsWith("\n") ? text.split("\n").length - 1 : text.split("\n").length;
  try {
    const file = parse(text, {
      sourceType: "module",
      plugins: ["typescript", "decorators", "explicitResourceManagement", "importAttributes"],
      errorRecovery: true,
    });
    const errors = (file.errors ?? []) as unknown as readonly { message: string; loc: { line: number } }[];
    return {
      path,
      lines,
      body: file.program.body as unknown as readonly Node[],
      comments: (file.comments ?? []) as unknown as readonly Comment[],
      errors: errors.map((error) => ({ line: error.loc.line, text: error.message })),
    };
  } catch (error) {
    return { path, lines, body: [], comments: [], errors: [{ line: 1, text: String(error) }] };
  }
}

/** Whether a value of the tree is a node. */
export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string" &&
    "loc" in value;
}

/** Fields that lead to comments instead of children. */
const NOT_CHILDREN = new Set(["leadingComments", "trailingComments", "innerComments", "extra", "loc"]);

/** Calls `visit` for each node, parents first. */
export function walk(body: readonly Node[], visit: (node: Node, parent: Node | null) => void): void {
  const rest: [Node, Node | null][] = body.map((node): [Node, null] => [node, null]).reverse();
  for (let at = rest.pop(); at !== undefined; at = rest.pop()) {
    const [node, parent] = at;
    visit(node, parent);
    const children: Node[] = [];
    for (const [field, value] of Object.entries(node)) {
      if (NOT_CHILDREN.has(field)) continue;
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) children.push(child);
    }
    for (const child of children.reverse()) rest.push([child, node]);
  }
}

/** The name of an identifier, or null for another node. */
export function nameOf(value: unknown): string | null {
  return isNode(value) && value.type === "Identifier" ? String(value["name"]) : null;
}

/** `a.b` for a member of an identifier, also through globalThis; null for anything else. */
export function memberName(node: Node): string | null {
  if (node.type !== "MemberExpression" || node["computed"] === true) return null;
  const owner = isNode(node["object"]) ? node["object"] : null;
  const property = nameOf(node["property"]);
  if (owner === null || property === null) return null;
  const ownerName = nameOf(owner) ?? memberName(owner)?.replace("globalThis.", "") ?? null;
  return ownerName === null ? null : `${ownerName}.${property}`;
}
