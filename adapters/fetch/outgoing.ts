/** A request as it is about to be sent. Everything in it is a copy: changing it changes nothing that is sent. */
export interface OutgoingRequest {
  /** Where it goes. */
  readonly url: URL;
  /** In upper case where fetch writes it so. */
  readonly method: string;
  /** Its headers, without those that fetch adds. */
  readonly headers: Headers;
  /** The body parsed, when it is a JSON object that can be read without using it up; else undefined. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
  /** Bytes of the body, 0 without one; null for a form or a stream, whose length nobody knows beforehand. */
  readonly bodyBytes: number | null;
  /** The `model` that the JSON body names, or null. */
  readonly model: string | null;
}

/** As much of `fetch` as is needed. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** A call of fetch as it was when it was made. Later changes to what the caller handed in do not reach it. */
export interface Outgoing {
  readonly view: OutgoingRequest;
  /** Aborts it; null without one. */
  readonly signal: AbortSignal | null;
  /** Whether it can be sent more than once: a stream can not. */
  readonly canRepeat: boolean;
  readonly input: string | URL | Request;
  readonly init: RequestInit | undefined;
}

/** A body as it is sent, and what can be known of it. */
interface Body {
  /** Undefined when the request's own is sent. */
  readonly sent?: BodyInit | null;
  readonly bytes: number | null;
  readonly text?: string;
  readonly canRepeat: boolean;
}

/**
 * Reads a call of fetch without using anything up: a Request with a JSON body is read through a clone, other bodies of a Request
 * and streams are left alone.
 *
 * @throws TypeError for what fetch refuses as well: a URL, method or header that is none, a Request that was used; the signal's
 * reason when it has aborted.
 */
export async function outgoingOf(input: string | URL | Request, init?: RequestInit): Promise<Outgoing> {
  const request = isRequest(input) ? input : null;
  const target = input instanceof URL ? new URL(input) : input;
  const { body: given, signal: _, ...rest } = { ...init };
  const head = new Request(request === null ? String(target) : request.url, {
    ...rest,
    method: rest.method ?? request?.method ?? "GET",
    headers: rest.headers ?? request?.headers ?? {},
  });
  const signal = init?.signal === undefined ? request?.signal ?? null : init.signal;
  signal?.throwIfAborted();
  const body = given !== undefined || request === null ? bodyOf(given) : await requestBody(request);
  return {
    view: viewOf(head, body),
    signal,
    canRepeat: body.canRepeat,
    input: target,
    init: initOf(init, body),
  };
}

/** By its members: a caller's own fetch may go with a Request of its own. */
function isRequest(input: unknown): input is Request {
  return typeof input === "object" && input !== null && "url" in input && "clone" in input;
}

function bodyOf(body: BodyInit | null | undefined): Body {
  if (body === undefined || body === null) return { bytes: 0, canRepeat: true };
  if (typeof body === "string") return { sent: body, text: body, bytes: byteLength(body), canRepeat: true };
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return bytesOf(body);
  if (body instanceof URLSearchParams) {
    return { sent: new URLSearchParams(body), bytes: byteLength(String(body)), canRepeat: true };
  }
  if (body instanceof Blob) return { sent: body, bytes: body.size, canRepeat: true };
  if (body instanceof FormData) return { sent: copyOf(body), bytes: null, canRepeat: true };
  return { sent: body, bytes: null, canRepeat: false };
}

function bytesOf(body: ArrayBuffer | ArrayBufferView): Body {
  const view = ArrayBuffer.isView(body)
    ? new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
    : new Uint8Array(body);
  const sent = Uint8Array.from(view);
  const isJson = sent[0] === "{".charCodeAt(0);
  return {
    sent,
    bytes: sent.length,
    canRepeat: true,
    ...(isJson ? { text: new TextDecoder().decode(sent) } : {}),
  };
}

/** A Request's own body. What is no JSON may be a stream without an end, so it is not read. */
async function requestBody(request: Request): Promise<Body> {
  if (request.body === null) return { bytes: 0, canRepeat: true };
  if (!/\bjson\b/i.test(request.headers.get("content-type") ?? "")) return { bytes: null, canRepeat: false };
  const text = await request.clone().text();
  return { sent: text, text, bytes: byteLength(text), canRepeat: true };
}

function copyOf(form: FormData): FormData {
  const copy = new FormData();
  for (const [name, value] of form.entries()) copy.append(name, value);
  return copy;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** What fetch is given beside the input: nothing where the caller gave nothing. */
function initOf(init: RequestInit | undefined, { sent }: Body): RequestInit | undefined {
  if (init === undefined) return sent === undefined ? undefined : { body: sent };
  return {
    ...init,
    ...(init.headers === undefined ? {} : { headers: new Headers(init.headers) }),
    ...(sent === undefined ? {} : { body: sent }),
  };
}

function viewOf(head: Request, { text, bytes }: Body): OutgoingRequest {
  const json = text === undefined ? undefined : parsedObject(text);
  const model = json?.["model"];
  return {
    url: new URL(head.url),
    method: head.method,
    headers: new Headers(head.headers),
    json,
    bodyBytes: bytes,
    model: typeof model === "string" && model !== "" ? model : null,
  };
}

/** The JSON object that a text is, or undefined. */
function parsedObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    const isObject = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
    return isObject ? parsed as Readonly<Record<string, unknown>> : undefined;
  } catch {
    return undefined;
  }
}
