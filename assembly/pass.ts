// The pass, in its plain meaning: the next waiter to leave is the oldest one whose attempt succeeds or refuses; after every
// departure the walk looks again from the head; when nobody leaves, those who are short are marked as held.
//
// A pass is a cursor over a line. `step` runs until there is an outcome to report or a custom account to ask, and keeps its
// place in the line's record; nothing of it lives on a stack, so user code never runs on a kernel frame and may call
// anything while an answer is pending. Two lines may be in a step at once.

import { ASK_EARLIEST, ASK_FITS, ASK_GIVE, DONE, NO, THREW, YES } from "./layout";
import { Line } from "./line_records";
import { askWhetherFits, heardFits, heardTake, resumeInstant, resumeUndo, takeAll, undo } from "./attempt";
import { stopAsking } from "./changes";
import { clockMoves } from "./stale";
import { abandon, FINISH, FITS, IDLE, MARK, mark, ON, restart, TAKE, UNDO, WAITING, WALK, walk } from "./walk";

export function isIdle(line: Line): bool {
  return line.phase == IDLE;
}

/** Starts a pass, or the inline attempt of the only waiter. False when a step is running. */
export function begin(line: Line, isInline: bool, wantsHeld: bool, now: f64): bool {
  if (line.phase != IDLE) return false;
  line.isInline = isInline ? 1 : 0;
  line.wantsHeld = wantsHeld ? 1 : 0;
  line.now = now;
  clockMoves(line, now);
  restart(line);
  return true;
}

/** Goes on until there is an outcome to report or an account to ask. */
export function step(line: Line): i32 {
  while (true) {
    let word = ON;
    switch (line.phase) {
      case WALK: {
        word = walk(line);
        break;
      }
      case FITS: {
        word = askWhetherFits(line);
        break;
      }
      case TAKE: {
        word = takeAll(line);
        break;
      }
      case UNDO: {
        word = undo(line);
        break;
      }
      case MARK: {
        word = mark(line);
        break;
      }
      case FINISH: {
        abandon(line);
        return DONE;
      }
      default: {
        unreachable(); // Idle, or an answer is pending.
      }
    }
    if (word != ON) return word;
  }
}

/** Takes the answer to the pending ask and goes on. `instant` is a tick, Infinity for "only an event". */
export function answer(line: Line, verdict: i32, instant: f64): i32 {
  assert(line.phase == WAITING);
  assert(verdict == NO || verdict == YES || verdict == THREW);
  stopAsking(line);
  const word = heard(line, verdict, instant);
  return word == ON ? step(line) : word;
}

function heard(line: Line, verdict: i32, instant: f64): i32 {
  const verb = line.verb;
  if (verb == ASK_EARLIEST) return resumeInstant(line, verdict, instant);
  if (verb == ASK_FITS) {
    line.phase = FITS;
    return heardFits(line, verdict);
  }
  if (verb == ASK_GIVE) {
    resumeUndo(line, verdict);
  } else {
    line.phase = TAKE;
    heardTake(line, verdict);
  }
  return ON;
}
