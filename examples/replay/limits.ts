/** What all requests of a replay share. */
export interface Limits {
  /** Tokens a minute of the model's quota; the bucket starts full with one minute's worth. */
  readonly tpm: number;
  /** Requests a minute of the model's quota; the bucket starts full with one minute's worth. */
  readonly rpm: number;
  /** Places in the HTTP pool. */
  readonly http: number;
  /** Permits of the database. */
  readonly db: number;
}

/** The limits of a replay where the user names none. */
export const DEFAULT_LIMITS: Limits = { tpm: 600_000, rpm: 600, http: 64, db: 16 };

/** The largest number a limit may be. Up to it, all arithmetic on levels is exact in doubles. */
export const MAX_LIMIT = 100_000_000;
