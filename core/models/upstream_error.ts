import { ExternalServiceError, UpstreamAuthError, UpstreamRequestError } from "./upstream_errors.ts";
import type { UpstreamErrorFields } from "./upstream_error_facts.ts";

/** 400: the request is malformed. */
export class UpstreamBadRequestError extends UpstreamRequestError {
  /** The name of the class. */
  override readonly name = "UpstreamBadRequestError";

  /** Takes what is known of the failure. @throws TypeError or RangeError when a field is not as said. */
  constructor(fields: Omit<UpstreamErrorFields, "status">) {
    super({ ...fields, status: 400 });
  }
}

/** 401: the credentials are missing or wrong. */
export class UpstreamUnauthorizedError extends UpstreamAuthError {
  /** The name of the class. */
  override readonly name = "UpstreamUnauthorizedError";

  /** Takes what is known of the failure. @throws TypeError or RangeError when a field is not as said. */
  constructor(fields: Omit<UpstreamErrorFields, "status">) {
    super({ ...fields, status: 401 });
  }
}

/** 403: the credentials do not allow this. */
export class UpstreamForbiddenError extends UpstreamAuthError {
  /** The name of the class. */
  override readonly name = "UpstreamForbiddenError";

  /** Takes what is known of the failure. @throws TypeError or RangeError when a field is not as said. */
  constructor(fields: Omit<UpstreamErrorFields, "status">) {
    super({ ...fields, status: 403 });
  }
}

/** 404: there is no such thing. */
export class UpstreamNotFoundError extends UpstreamRequestError {
  /** The name of the class. */
  override readonly name = "UpstreamNotFoundError";

  /** Takes what is known of the failure. @throws TypeError or RangeError when a field is not as said. */
  constructor(fields: Omit<UpstreamErrorFields, "status">) {
    super({ ...fields, status: 404 });
  }
}

/** 413: the request is too large. */
export class UpstreamTooLargeError extends UpstreamRequestError {
  /** The name of the class. */
  override readonly name = "UpstreamTooLargeError";

  /** Takes what is known of the failure. @throws TypeError or RangeError when a field is not as said. */
  constructor(fields: Omit<UpstreamErrorFields, "status">) {
    super({ ...fields, status: 413 });
  }
}

/** 422: the request is well formed and makes no sense to the service. */
export class UpstreamUnprocessableError extends UpstreamRequestError {
  /** The name of the class. */
  override readonly name = "UpstreamUnprocessableError";

  /** Takes what is known of the failure. @throws TypeError or RangeError when a field is not as said. */
  constructor(fields: Omit<UpstreamErrorFields, "status">) {
    super({ ...fields, status: 422 });
  }
}

/** 429: the service asks to slow down. */
export class UpstreamRateLimitError extends ExternalServiceError {
  /** The name of the class. */
  override readonly name = "UpstreamRateLimitError";

  /** Takes what is known of the failure. @throws TypeError or RangeError when a field is not as said. */
  constructor(fields: Omit<UpstreamErrorFields, "status">) {
    super({ ...fields, status: 429 });
  }
}

/** 500: the service broke. */
export class UpstreamServerError extends ExternalServiceError {
  /** The name of the class. */
  override readonly name = "UpstreamServerError";

  /** Takes what is known of the failure. @throws TypeError or RangeError when a field is not as said. */
  constructor(fields: Omit<UpstreamErrorFields, "status">) {
    super({ ...fields, status: 500 });
  }
}

/** 502: a gateway got no good answer from the service behind it. */
export class UpstreamBadGatewayError extends ExternalServiceError {
  /** The name of the class. */
  override readonly name = "UpstreamBadGatewayError";

  /** Takes what is known of the failure. @throws TypeError or RangeError when a field is not as said. */
  constructor(fields: Omit<UpstreamErrorFields, "status">) {
    super({ ...fields, status: 502 });
  }
}

/** 503: the service cannot answer now. */
export class UpstreamUnavailableError extends ExternalServiceError {
  /** The name of the class. */
  override readonly name = "UpstreamUnavailableError";

  /** Takes what is known of the failure. @throws TypeError or RangeError when a field is not as said. */
  constructor(fields: Omit<UpstreamErrorFields, "status">) {
    super({ ...fields, status: 503 });
  }
}

type UpstreamErrorClass = new (
  fields: Omit<UpstreamErrorFields, "status">,
) => ExternalServiceError | UpstreamRequestError | UpstreamAuthError;

const CLASSES: ReadonlyMap<number, UpstreamErrorClass> = new Map<number, UpstreamErrorClass>([
  [400, UpstreamBadRequestError],
  [401, UpstreamUnauthorizedError],
  [403, UpstreamForbiddenError],
  [404, UpstreamNotFoundError],
  [413, UpstreamTooLargeError],
  [422, UpstreamUnprocessableError],
  [429, UpstreamRateLimitError],
  [500, UpstreamServerError],
  [502, UpstreamBadGatewayError],
  [503, UpstreamUnavailableError],
]);

/**
 * The error of a failed request, by its status: each of the ten statuses above has its class, any other is an
 * ExternalServiceError that carries it. The text of the answer plays no part.
 *
 * @throws TypeError or RangeError when a field is not as said.
 */
export function upstreamError(
  fields: UpstreamErrorFields,
): ExternalServiceError | UpstreamRequestError | UpstreamAuthError {
  const type = CLASSES.get(fields.status);
  return type === undefined ? new ExternalServiceError(fields) : new type(fields);
}
