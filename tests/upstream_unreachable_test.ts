// What it is when no answer came: refused, cut and late requests, and host names that lead nowhere, as runtimes throw them.

import assert from "node:assert/strict";
import { lookup } from "node:dns";
import { connect, type Socket } from "node:net";
import { describe, it } from "@std/testing/bdd";
import { classifyUpstreamFailure, ExternalServiceError, UncorrectableError } from "../mod.ts";
import { closedPort, failed, kindOf, thrownBy, withServer } from "./upstream_calls.ts";

describe("A failure without an answer", () => {
  it("UF-07 a refused connection is transient, as fetch and sockets of this runtime really throw it", async () => {
    const url = await closedPort();
    const error = await thrownBy(() => fetch(url));
    assert.ok(error instanceof TypeError);
    assert.equal(kindOf(error), "TRANSIENT");
    class APIConnectionError extends Error {}
    assert.equal(kindOf(new APIConnectionError("Connection error.", { cause: error })), "TRANSIENT");
    const refused = await thrownBy(() =>
      new Promise((_, reject) => connect(Number(new URL(url).port), "127.0.0.1").on("error", reject))
    );
    assert.equal(kindOf(refused), "TRANSIENT");
  });

  it("UF-07 a connection that is cut is transient, before the answer and in the middle of it", async () => {
    const reset = await withServer(
      (socket) => socket.on("data", () => socket.destroy()),
      (url) => thrownBy(() => fetch(url)),
    );
    assert.equal(kindOf(reset), "TRANSIENT");
    const begin = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegin";
    const cut = await withServer(
      (socket) => socket.on("data", () => socket.end(begin)),
      (url) => thrownBy(async () => (await fetch(url)).text()),
    );
    assert.equal(kindOf(cut), "TRANSIENT");
  });

  it("UF-07 a request that took longer than its own limit is transient, an abort is not", async () => {
    const sockets: Socket[] = [];
    const [late, aborted] = await withServer((socket) => sockets.push(socket), async (url) => {
      const errors = [
        await thrownBy(() => fetch(url, { signal: AbortSignal.timeout(20) })),
        await thrownBy(() => fetch(url, { signal: AbortSignal.abort() })),
      ];
      for (const socket of sockets) socket.destroy();
      return errors;
    });
    assert.equal(kindOf(late), "TRANSIENT");
    assert.equal(kindOf(aborted), "unchanged");
    class APIError extends Error {}
    class APIConnectionError extends APIError {}
    class APIConnectionTimeoutError extends APIConnectionError {}
    class APIUserAbortError extends APIError {}
    assert.equal(kindOf(new APIConnectionTimeoutError("Request timed out.")), "TRANSIENT");
    assert.equal(kindOf(new APIUserAbortError("Request was aborted.")), "unchanged");
    assert.equal(kindOf(new APIConnectionError("x", { cause: aborted })), "unchanged");
  });

  it("UF-15 a host name that leads nowhere is uncorrectable, as this runtime really says it", async () => {
    const name = "no-such-host.invalid";
    // Where no name server answers, the system says so: that may pass.
    const code = await new Promise((resolve) => lookup(name, (fault) => resolve(fault?.code)));
    const kind = code === "ENOTFOUND" ? "UNRESOLVABLE" : "TRANSIENT";
    const error = await thrownBy(() => fetch(`http://${name}/v1?q=tcp%20connect%20error`));
    assert.equal(kindOf(error), kind);
    assert.equal(kindOf(failed({ service: "search" }, "the tool failed", error)), kind);
  });

  it("UF-15 and as the other runtimes say it", () => {
    const fetchFailed = (cause: Error) => new TypeError("fetch failed", { cause });
    const coded = (code: string) => failed({ code }, `getaddrinfo ${code} x.test`);
    assert.equal(kindOf(fetchFailed(coded("ENOTFOUND"))), "UNRESOLVABLE");
    assert.equal(kindOf(Object.assign(new TypeError("x"), { code: "ENOTFOUND" })), "UNRESOLVABLE");
    assert.equal(kindOf(fetchFailed(coded("EAI_AGAIN"))), "TRANSIENT");
    const deno = (fault: string) =>
      fetchFailed(new Error(`error sending request for url (http://x.test/?q=a): client error (${fault}`));
    const looked = "Connect): dns error: failed to lookup address information: ";
    assert.equal(kindOf(deno(`${looked}Name or service not known`)), "UNRESOLVABLE");
    assert.equal(kindOf(deno(`${looked}Temporary failure in name resolution`)), "TRANSIENT");
    assert.equal(kindOf(deno("Connect): tcp connect error: Connection refused (os error 111)")), "TRANSIENT");
    assert.equal(kindOf(deno("SendRequest): connection closed before message completed")), "TRANSIENT");
    assert.equal(kindOf(deno("Connect): invalid peer certificate: UnknownIssuer")), "unchanged");
    for (const old of ["ConnectionRefused", "ConnectionClosed", "FailedToOpenSocket"]) {
      assert.equal(kindOf(failed({ code: old })), "TRANSIENT");
    }
    for (const other of ["ENOENT", "CERT_HAS_EXPIRED", "ERR_INVALID_URL", 23]) {
      assert.equal(kindOf(fetchFailed(failed({ code: other }))), "unchanged");
    }
  });

  it("UF-15 the uncorrectable error says what happened", () => {
    const error = failed({ code: "ENOTFOUND", service: "search" }, "getaddrinfo ENOTFOUND x.test");
    const verdict = classifyUpstreamFailure(error);
    assert.ok(verdict instanceof UncorrectableError);
    assert.match(verdict.message, /host name cannot be resolved: no response from search: getaddrinfo/);
  });

  it("UF-06 an external service's error without status or cause is a service that cannot be reached", () => {
    const silent = new ExternalServiceError({ status: 0, service: "search" });
    assert.equal(kindOf(silent), "TRANSIENT");
    const nowhere = new ExternalServiceError({ status: 0, cause: failed({ code: "ENOTFOUND" }) });
    assert.equal(kindOf(nowhere), "UNRESOLVABLE");
    const other = new ExternalServiceError({ status: 0, cause: new Error("a bug") });
    assert.equal(kindOf(other), "unchanged");
  });
});
