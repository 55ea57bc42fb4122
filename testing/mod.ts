/**
 * For tests of code that uses Sluice, and for authors of accounts: a clock that a test moves, and accounts that follow a
 * script.
 *
 * @module
 */
export { ManualClock } from "./manual_clock.ts";
export { MeterLimiter, ScriptedLimiter, type ScriptedMode, SwitchMemory } from "./doubles.ts";
export { type ContractSubject, type MakeSubject, rateLimiterContract, type TestRunner } from "./contract.ts";
export { ContractError } from "./checks.ts";
