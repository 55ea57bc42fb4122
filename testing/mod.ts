/**
 * For tests of code that uses Sluice, and for authors of accounts and of database providers: a clock that a test moves, accounts
 * that follow a script, and the suites that every account and every provider has to pass.
 *
 * @module
 */
export { ManualClock } from "./manual_clock.ts";
export { MeterLimiter, ScriptedLimiter, type ScriptedMode, SwitchMemory } from "./doubles.ts";
export { type ContractSubject, type MakeSubject, rateLimiterContract, type TestRunner } from "./contract.ts";
export {
  type DBContractHarness,
  type DBContractSubject,
  type DBCountingHarness,
  type DBCountingSubject,
  type DBHoldingHarness,
  type DBHoldingSubject,
  dbResourceProviderContract,
} from "./db_contract.ts";
export { ContractError } from "./checks.ts";
