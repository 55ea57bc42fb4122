/** Faults in the elastic window: its stamps, its throttle, its circuit, and what admission makes of them. */

import type { Mutant } from "./mutant.ts";

const STAMPS = "assembly/accounts/stamps.ts";
const WINDOW_SOURCE = "assembly/accounts/elastic_window.ts";
const ACCOUNT = "tests/elastic_window_account_test.ts";
const THROTTLE = "tests/elastic_window_throttle_test.ts";
const CIRCUIT = "tests/elastic_window_circuit_test.ts";
const PROBE = "tests/elastic_window_probe_test.ts";
const DEMAND = "tests/elastic_window_demand_test.ts";
const ADMISSION = "tests/elastic_window_admission_test.ts";
const RING = "tests/elastic_window_stamps_test.ts";
const CONFIG = "tests/elastic_window_config_test.ts";
const PROPERTY = "tests/elastic_window_property_test.ts";

/** The window's faults. */
export const WINDOW: readonly Mutant[] = [
  {
    id: "window-stamp-of-one-window-binds",
    rules: ["BEY-10"],
    file: STAMPS,
    find: "runAt(window, middle).instant <= last",
    replace: "runAt(window, middle).instant < last",
    tests: [ACCOUNT, PROPERTY],
  },
  {
    id: "window-outdated-stamps-come-back",
    rules: ["BEY-10"],
    file: WINDOW_SOURCE,
    find: "  dropOutdated(window, now);\n  window.throttle = throttle;",
    replace: "  dropOutdated(window, -Infinity);\n  window.throttle = throttle;",
    tests: [ACCOUNT],
  },
  {
    id: "window-names-the-oldest-stamp",
    rules: ["EW-12"],
    file: STAMPS,
    find: "const count = goneAt(window, now) + k;",
    replace: "const count = goneAt(window, now) + 1;",
    tests: [ACCOUNT],
  },
  {
    id: "window-ring-forgets-its-turn",
    rules: ["EW-04"],
    file: STAMPS,
    find: "  window.ringBits = bits;\n  window.first = 0;",
    replace: "  window.ringBits = bits;",
    tests: [RING],
  },
  {
    id: "window-merged-stamps-leave-early",
    rules: ["EW-06"],
    file: STAMPS,
    find: "    newest.instant = now;\n",
    replace: "",
    tests: [RING],
  },
  {
    id: "window-length-in-fractions",
    rules: ["EW-05"],
    file: WINDOW_SOURCE,
    find: "<i64> window.base * <i64> (THROTTLE_UNITS + throttle) / <i64> THROTTLE_UNITS;\n" +
      "  window.length = <f64> (stretched * TICKS_PER_MS);",
    replace:
      "<i64> window.base * TICKS_PER_MS * <i64> (THROTTLE_UNITS + throttle) / <i64> THROTTLE_UNITS;\n" +
      "  window.length = <f64> stretched;",
    tests: [THROTTLE],
  },
  {
    id: "window-pressure-resets-successes",
    rules: ["EW-20"],
    file: WINDOW_SOURCE,
    find: "  window.lastPressure = now;\n",
    replace: "  window.lastPressure = now;\n  window.successes = 0;\n",
    tests: [THROTTLE],
  },
  {
    id: "window-recovers-late",
    rules: ["EW-19"],
    file: WINDOW_SOURCE,
    find: "now - window.lastPressure >= window.recoveryTicks",
    replace: "now - window.lastPressure > window.recoveryTicks",
    tests: [THROTTLE],
  },
  {
    id: "window-advice-counts-toward-blocking",
    rules: ["EW-22", "EW-25"],
    file: WINDOW_SOURCE,
    find: "  window.lastPressure = now;\n",
    replace: "  window.lastPressure = now;\n  window.streak++;\n",
    tests: [THROTTLE, CIRCUIT],
  },
  {
    id: "window-opens-one-failure-late",
    rules: ["EW-24"],
    file: WINDOW_SOURCE,
    find: "window.streak >= window.failuresToBlock",
    replace: "window.streak > window.failuresToBlock",
    tests: [CIRCUIT],
  },
  {
    id: "window-success-keeps-the-streak",
    rules: ["EW-25"],
    file: WINDOW_SOURCE,
    find: "  window.streak = 0;\n",
    replace: "",
    tests: [CIRCUIT],
  },
  {
    id: "window-circuit-before-size",
    rules: ["EW-10"],
    file: WINDOW_SOURCE,
    find: "  if (mine > window.maxRequests) return NEVER_PERMITS;",
    replace: "  if (mine > window.maxRequests && window.circuit == HEALTHY) return NEVER_PERMITS;",
    tests: [ACCOUNT],
  },
  {
    id: "window-cooldown-a-tick-long",
    rules: ["EW-27"],
    file: WINDOW_SOURCE,
    find: "if (now < window.blockedUntil)",
    replace: "if (now <= window.blockedUntil)",
    tests: [CIRCUIT],
  },
  {
    id: "window-follower-takes-the-probe",
    rules: ["MON-22", "EW-29"],
    file: WINDOW_SOURCE,
    find: "    if (ahead > 0) return PROBE_ONLY;\n",
    replace: "",
    tests: [ADMISSION, PROBE],
  },
  {
    id: "window-give-keeps-the-probe",
    rules: ["EW-16"],
    file: WINDOW_SOURCE,
    find: "  dropNewest(window, slots);\n  if (window.circuit == PROBING) window.circuit = BLOCKED;",
    replace: "  dropNewest(window, slots);",
    tests: [ADMISSION, ACCOUNT],
  },
  {
    id: "window-failed-probe-needs-full-throttle",
    rules: ["EW-33"],
    file: WINDOW_SOURCE,
    find: "  if (window.circuit == PROBING) {\n    open",
    replace: "  if (window.circuit == PROBING && window.throttle == window.maxThrottle) {\n    open",
    tests: [PROBE],
  },
  {
    id: "window-cooldown-doubles-for-ever",
    rules: ["EW-33", "EW-34"],
    file: WINDOW_SOURCE,
    find: "min(max(2 * window.cooldown, window.initialCooldown), window.maxCooldown)",
    replace: "max(2 * window.cooldown, window.initialCooldown)",
    tests: [PROBE],
  },
  {
    id: "window-probe-closes-without-a-wake",
    rules: ["EW-32"],
    file: WINDOW_SOURCE,
    find: "return relax(window, now) || isClosing;",
    replace: "return relax(window, now);",
    tests: [PROBE],
  },
  {
    id: "window-probe-is-never-lost",
    rules: ["EW-35"],
    file: WINDOW_SOURCE,
    find: "return now - window.probedAt >= window.probeTimeout;",
    replace: "return false;",
    tests: [PROBE],
  },
  {
    id: "window-late-success-closes",
    rules: ["BEY-10", "EW-35"],
    file: WINDOW_SOURCE,
    find: "  giveUpLostProbe(window, now);\n  window.streak = 0;",
    replace: "  window.streak = 0;",
    tests: [PROBE, PROPERTY],
  },
  {
    id: "window-slot-comes-back-on-release",
    rules: ["ACC-15"],
    file: "assembly/border_attempts.ts",
    find: "(everything || account.kind == KIND_GATE)",
    replace: "(everything || account.kind != 2)",
    tests: [ADMISSION],
  },
  {
    id: "window-explain-gives-up-the-probe",
    rules: ["BEY-11"],
    file: "core/explanation.ts",
    find: "kernel.peek(record",
    replace: "kernel.fits(record",
    tests: [DEMAND],
  },
  {
    id: "window-clock-is-not-compared",
    rules: ["BEY-53"],
    file: "core/demand.ts",
    find: "  return binding.clock;\n}\n\n/** The bucket",
    replace: "  return null;\n}\n\n/** The bucket",
    tests: [DEMAND],
  },
  {
    id: "window-subclass-may-release",
    rules: ["ACC-11", "EW-44"],
    file: "core/accounts/elastic_window.ts",
    find: "    for (const property of FINAL) this.#seal(property);\n",
    replace: "",
    tests: [CONFIG],
  },
];
