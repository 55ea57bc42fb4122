import type { Grant, JobContext } from "../../mod.ts";

/** One caller of a history. */
export interface Job {
  name: string;
  grant: Grant | null;
  isSettled: boolean;
  isOver: boolean;
  controller: AbortController | null;
  context: JobContext | null;
}

export function newJob(name: string): Job {
  return { name, grant: null, isSettled: false, isOver: false, controller: null, context: null };
}
