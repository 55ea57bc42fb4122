import { show } from "../invariant.ts";
import type { ModelSpec } from "./model_spec.ts";

/** What a model answers: text, vectors, or a verdict. Only an LLM has output tokens. */
export type ModelKind = "LLM" | "EMBEDDINGS" | "DECISION";

/** The kind that a provider's key tells by its ending: `-embeddings`, `-decision`, anything else an LLM. */
export function kindOf(providerKey: string | null): ModelKind {
  if (providerKey?.endsWith("-embeddings")) return "EMBEDDINGS";
  return providerKey?.endsWith("-decision") ? "DECISION" : "LLM";
}

/**
 * What an entry of a catalog owes its kind. An entry without a provider's key says nothing of its kind and owes nothing.
 *
 * @throws TypeError naming the field that is missing or must not be there.
 */
export function checkCatalogEntry(spec: ModelSpec): void {
  if (spec.providerKey === null) return;
  requireField(spec, "maxContextTokens");
  if (spec.kind === "DECISION") checkDecision(spec);
  else checkMetered(spec);
}

/** A decision model is limited by requests in flight, or else by its bucket. */
function checkDecision(spec: ModelSpec): void {
  if ((spec.tpm > 0) !== (spec.maxConcurrent !== null)) return;
  throw refused(
    spec,
    `tpm is ${spec.tpm} and maxConcurrent ${spec.maxConcurrent}, exactly one of the two should be set`,
  );
}

function checkMetered(spec: ModelSpec): void {
  requireField(spec, "tpm");
  requireField(spec, "maxOutputTokens");
  if (spec.maxConcurrent !== null) {
    throw refused(
      spec,
      `maxConcurrent is ${spec.maxConcurrent}, it should be left out: only a decision entry has one`,
    );
  }
}

function requireField(spec: ModelSpec, field: "tpm" | "maxContextTokens" | "maxOutputTokens"): void {
  if ((spec[field] ?? 0) > 0) return;
  throw refused(spec, `${field} is ${spec[field]}, it should be a whole number of tokens from 1`);
}

function refused({ id, kind, providerKey }: ModelSpec, fault: string): TypeError {
  return new TypeError(
    `Cannot make the ModelSpec ${show(id)}, which is ${kind} by its providerKey ${
      show(providerKey)
    }: ${fault}`,
  );
}
