/** The checks of one file that the house style marks as checked by a script; see docs/style.md. */
import { checkImports, type Finding } from "./imports.ts";
import * as layout from "./layout.ts";
import { isNode, memberName, nameOf, type Node, parseSource, type Source, walk } from "./source.ts";

/** Everything in one file that breaks a rule. `path` is relative to the root, with forward slashes. */
export function checkFile(path: string, text: string): Finding[] {
  const source = parseSource(path, text);
  const findings = [...checkImports(source)];
  if (!layout.GENERATED.test(path)) {
    for (const check of [checkShape, checkComments, checkExports, checkNodes, checkDecorators]) {
      findings.push(...check(source));
    }
  }
  return findings.sort((left, right) => left.line - right.line);
}

function checkShape(source: Source): Finding[] {
  const { path, lines } = source;
  const findings: Finding[] = source.errors.map((error) => ({
    path,
    line: error.line,
    text: `cannot be read: ${error.text}`,
  }));
  if (!/^[a-z0-9]+(_[a-z0-9]+)*(\.d)?\.(ts|mjs)$/.test(path.slice(path.lastIndexOf("/") + 1))) {
    findings.push({ path, line: 1, text: "has a name that is not snake_case" });
  }
  if (lines > layout.MAX_FILE_LINES) {
    findings.push({ path, line: lines, text: `has ${lines} lines; ${layout.MAX_FILE_LINES} is the most` });
  }
  return findings;
}

function checkComments(source: Source): Finding[] {
  return source.comments
    .filter((comment) => /\b(TODO|FIXME|XXX)\b/.test(comment.value))
    .map((comment) => ({
      path: source.path,
      line: comment.loc.start.line,
      text: "has a TODO: open an issue instead",
    }));
}

/** Whether a block comment in the form of a docstring stands right above the node. */
function hasDocstring(node: Node): boolean {
  const comments = (node["leadingComments"] ?? []) as Source["comments"];
  return comments.some((comment) => comment.type === "CommentBlock" && comment.value.startsWith("*"));
}

/** The names a top-level declaration declares. */
function declaredNames(declaration: Node): string[] {
  if (declaration.type === "VariableDeclaration") {
    return (declaration["declarations"] as Node[]).map((each) => nameOf(each["id"]) ?? "a pattern");
  }
  return [nameOf(declaration["id"]) ?? "a declaration"];
}

/** Top-level names with a docstring, whether exported where they are declared or in a list below. */
function documentedNames(body: readonly Node[]): Set<string> {
  const documented = new Set<string>();
  for (const node of body) {
    const declaration = (node["declaration"] ?? node) as Node;
    if (!hasDocstring(node) && !hasDocstring(declaration)) continue;
    for (const name of declaredNames(declaration)) documented.add(name);
  }
  return documented;
}

function checkExports(source: Source): Finding[] {
  const { path } = source;
  const documented = documentedNames(source.body);
  return source.body.flatMap((node): Finding[] => {
    const line = node.loc.start.line;
    if (node.type === "ExportDefaultDeclaration") {
      return layout.DEFAULT_EXPORTS.test(path) ? [] : [{ path, line, text: "has a default export: name it" }];
    }
    if (node.type !== "ExportNamedDeclaration" || node["source"] || !layout.DOCUMENTED.test(path)) return [];
    const declaration = node["declaration"] as Node | null;
    const listed = ((node["specifiers"] ?? []) as Node[]).map((each) => nameOf(each["local"]) ?? "");
    const names = declaration ? declaredNames(declaration) : listed;
    return names
      .filter((name) => !documented.has(name))
      .map((name) => ({ path, line, text: `exports ${name} without a docstring` }));
  });
}

function checkNodes(source: Source): Finding[] {
  const { path } = source;
  const findings: Finding[] = [];
  const uses = layout.ALLOWANCES.find((each) => each.paths.test(path))?.uses ?? [];
  walk(source.body, (node, parent) => {
    const line = node.loc.start.line;
    const add = (text: string): void => void findings.push({ path, line, text });
    if (node.type === "TSAnyKeyword") add("uses any: use unknown, or say the type");
    const used = usedClock(node, parent);
    if (used !== null && !uses.includes(used)) {
      add(`uses ${used}: take it as an argument, from the Clock or a seed`);
    }
    if (layout.EXACT_ZONES.test(path) && isInexact(node)) {
      add("uses inexact mathematics: only + - * / and sqrt here");
    }
    const length = functionLines(node, parent);
    if (length > layout.MAX_FUNCTION_LINES) {
      add(`has a function of ${length} lines; ${layout.MAX_FUNCTION_LINES} is the most`);
    }
  });
  return findings;
}

/** The clock, timer or source of chance that a node names, or null. */
function usedClock(node: Node, parent: Node | null): string | null {
  if (node.type === "NewExpression" && nameOf(node["callee"]) === "Date") {
    return (node["arguments"] as unknown[]).length === 0 ? "new Date()" : null;
  }
  const member = memberName(node);
  if (member !== null) {
    const plain = member.replace("globalThis.", "");
    return [...layout.CLOCKS, ...layout.CHANCE, ...layout.TIMERS].includes(plain) ? plain : null;
  }
  const name = nameOf(node);
  if (name === null || !layout.TIMERS.includes(name)) return null;
  const isName = parent !== null && (parent["property"] === node || parent["key"] === node) &&
    parent["computed"] !== true;
  return isName && parent.type !== "ObjectProperty" ? null : name;
}

function isInexact(node: Node): boolean {
  if (node.type === "BinaryExpression" || node.type === "AssignmentExpression") {
    const isConstant = [node["left"], node["right"]].every((side) =>
      isNode(side) && side.type === "NumericLiteral"
    );
    return (node["operator"] === "**" || node["operator"] === "**=") && !isConstant;
  }
  const member = memberName(node)?.replace("globalThis.", "");
  return member !== undefined && /^Math\.[a-z]/.test(member) &&
    !layout.EXACT_MATH.includes(member.slice("Math.".length));
}

/** Lines of a function; 0 for another node, and for the body of a describe, which is a list. */
function functionLines(node: Node, parent: Node | null): number {
  if (!/^(Function|ArrowFunction|ClassMethod|ObjectMethod|ClassPrivateMethod)/.test(node.type)) return 0;
  const callee = parent?.type === "CallExpression" ? parent["callee"] as Node : null;
  if (callee !== null && /^describe\b/.test(nameOf(callee) ?? memberName(callee) ?? "")) return 0;
  return node.loc.end.line - node.loc.start.line + 1;
}

/** The kernel's records are plain memory: one decorator is all they need, and inlining is the compiler's work. */
function checkDecorators(source: Source): Finding[] {
  const findings: Finding[] = [];
  walk(source.body, (node) => {
    const name = node.type === "Decorator" ? nameOf(node["expression"]) : null;
    if (name === null || name === "unmanaged" || !source.path.startsWith("assembly/")) return;
    findings.push({
      path: source.path,
      line: node.loc.start.line,
      text: `uses @${name}: only @unmanaged is used here`,
    });
  });
  return findings;
}
