import { Sema } from "async-sema";
import { Admission, CountingGate } from "../../mod.ts";
import { PLACES, tokensOf, type Way } from "./scenario.ts";

/** One limit after the other: a place of async-sema's semaphore, then tokens. Both lines are fair. */
export const oneAtATime: Way = (world) => {
  const places = new Sema(PLACES);
  const tokens = new Admission({ memory: null, clock: world.clock }).start();
  return async (job, { hasPlace, work }) => {
    await places.acquire();
    try {
      hasPlace();
      using _tokens = await tokens.admit(tokensOf(job, world)); // Sits on its place until they come.
      await work();
    } finally {
      places.release();
    }
  };
};

/** One Admission: place and tokens at once, or neither. */
export const oneAdmission: Way = (world) => {
  const places = new CountingGate("http", PLACES);
  const admission = new Admission({ memory: null, clock: world.clock }).start();
  return async (job, { hasPlace, work }) => {
    using _grant = await admission.admit(tokensOf(job, world).add(places)); // Holds nothing until it has all.
    hasPlace();
    await work();
  };
};
