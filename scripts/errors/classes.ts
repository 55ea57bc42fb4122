/** The error classes that users can meet, as mod.ts exports them and as their sources describe them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as api from "../../mod.ts";
import { listFiles, ROOT } from "../support/project.ts";
import { type Node, parseSource } from "../tidy/source.ts";

/** One field of a class. */
export interface ErrorField {
  readonly name: string;
  readonly type: string;
  /** Its docstring on one line. */
  readonly doc: string;
}

/** One class. */
export interface ErrorClass {
  readonly name: string;
  readonly base: string;
  /** Its docstring on one line. */
  readonly doc: string;
  /** Its own fields, without those that its base has. */
  readonly fields: readonly ErrorField[];
}

/** Fields of every error, said once. */
const COMMON = new Set(["name", "code"]);

/** The subclasses of AdmissionError that mod.ts exports, by name. @throws Error when the source of one is not found. */
export function errorClasses(): ErrorClass[] {
  const declared = new Map<string, ErrorClass>();
  for (const path of listFiles(ROOT, "core", (each) => each.endsWith(".ts"))) {
    for (const found of classesIn(path)) declared.set(found.name, found);
  }
  const exported = Object.entries(api).filter(([, value]) => isErrorClass(value)).map(([name]) => name);
  return exported.map((name) => {
    const found = declared.get(name);
    if (found === undefined) throw new Error(`Cannot describe ${name}: no file of core/ declares it`);
    return found;
  });
}

function isErrorClass(value: unknown): boolean {
  return typeof value === "function" && value.prototype instanceof api.AdmissionError;
}

function classesIn(path: string): ErrorClass[] {
  const text = readFileSync(join(ROOT, path), "utf8");
  if (!/\bclass \w+Error\b|\bclass RetrySignal\b/.test(text)) return [];
  return parseSource(path, text).body.flatMap((node) => {
    const declaration = node["declaration"] as Node | null | undefined;
    if (declaration?.type !== "ClassDeclaration") return [];
    return [describeClass(declaration, docOf(node), text)];
  });
}

function describeClass(declaration: Node, doc: string, text: string): ErrorClass {
  const { body } = declaration["body"] as { body: readonly Node[] };
  const fields = body.filter(({ type }) => type === "ClassProperty").map((member): ErrorField => ({
    name: nameOf(member["key"]),
    type: typeOf(member, text),
    doc: docOf(member),
  }));
  return {
    name: nameOf(declaration["id"]),
    base: nameOf(declaration["superClass"]),
    doc,
    fields: fields.filter(({ name }) => !COMMON.has(name)),
  };
}

function nameOf(node: unknown): string {
  return (node as { name?: string } | null)?.name ?? "";
}

function typeOf(member: Node, text: string): string {
  const written = member["typeAnnotation"] as { typeAnnotation?: { start: number; end: number } } | null;
  const type = written?.typeAnnotation;
  return type === undefined ? "unknown" : text.slice(type.start, type.end);
}

function docOf(node: Node): string {
  const comments = (node["leadingComments"] ?? []) as readonly { value: string }[];
  return (comments.at(-1)?.value ?? "").replace(/^\*|^\s*\*/gm, "").replace(/\s+/g, " ").trim();
}
