// Who sent a request: the peer, or the n-th entry of X-Forwarded-For from the right, as a key.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { clientAddress, type ClientAddressFacts, type HeaderSource } from "../mod.ts";

const PROXY = "10.0.0.1";

function behind(
  trustedProxies: number,
  forwarded: string,
  more: Partial<ClientAddressFacts> = {},
): string | null {
  const headers = new Headers({ "X-Forwarded-For": forwarded });
  return clientAddress({ peer: PROXY, headers, trustedProxies, ...more });
}

function of(peer: string | null | undefined, ipv6Prefix = 64): string | null {
  return clientAddress({ peer, ipv6Prefix });
}

describe("The address of a peer", () => {
  it("is read with or without port, in brackets, with a zone, and mapped IPv4 as IPv4", () => {
    const same = ["192.0.2.7", "192.0.2.7:8080", " 192.0.2.7 ", "::ffff:192.0.2.7", "[::FFFF:c000:207]:443"];
    assert.deepEqual(same.map((peer) => of(peer)), same.map(() => "192.0.2.7"));
    const six = [
      "fe80::7",
      "[fe80::7]",
      "[fe80::7]:80",
      "fe80::7%eth0",
      "FE80:0:0:0:0:0:0:0007",
      "fe80::0.0.0.7",
    ];
    assert.deepEqual(six.map((peer) => of(peer, 128)), six.map(() => "fe80::7"));
  });

  it("is null when it is none, whatever stands there", () => {
    const junk = [
      "",
      "unknown",
      "_hidden",
      "1.2.3",
      "1.2.3.256",
      "01.2.3.4",
      "0x1.2.3.4",
      "1.2.3.4:",
      "1.2.3.4:123456",
      "1.2.3.4:80:80",
      ":::",
      "1::2::3",
      "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9",
      "1:2:3:4:5:6:7:8::",
      "::12345",
      "::1.2.3.4:5",
      "1.2.3.4::",
      "[::1",
      "[::1]80",
      "[1.2.3.4]",
      "::1]",
      "1".repeat(1_000_000),
    ];
    assert.deepEqual(junk.filter((peer) => of(peer) !== null), []);
    assert.deepEqual([of(null), of(undefined), of(7 as never), of({} as never)], [null, null, null, null]);
  });

  it("is the network of an IPv6 address: its /64, or as many bits as one says", () => {
    const address = "2001:db8:1:2345:6789:abcd:ef01:2345";
    assert.equal(of(address), "2001:db8:1:2345::/64");
    assert.equal(of(address, 56), "2001:db8:1:2300::/56");
    assert.equal(of(address, 1), "::/1");
    assert.equal(of("ffff::", 1), "8000::/1");
    assert.equal(of(address, 127), "2001:db8:1:2345:6789:abcd:ef01:2344/127");
    assert.equal(of(address, 128), address);
    assert.equal(of("192.0.2.7", 1), "192.0.2.7");
  });

  it("is written as RFC 5952 says", () => {
    const written = {
      "2001:DB8::0001": "2001:db8::1",
      "2001:db8:0:1:1:1:1:1": "2001:db8:0:1:1:1:1:1",
      "2001:0:0:1:0:0:0:1": "2001:0:0:1::1",
      "2001:db8:0:0:1:0:0:1": "2001:db8::1:0:0:1",
      "0:0:0:0:0:0:0:0": "::",
      "::ffff:0:0": "0.0.0.0",
      "1:0:0:0:0:0:0:0": "1::",
    };
    for (const [text, canonical] of Object.entries(written)) assert.equal(of(text, 128), canonical);
  });
});

describe("The address behind proxies", () => {
  it("is the peer's as long as no proxy is trusted, whatever a client writes", () => {
    assert.equal(behind(0, "198.51.100.1, 198.51.100.2"), PROXY);
    assert.equal(
      clientAddress({ peer: PROXY, headers: new Headers({ "X-Forwarded-For": "1.1.1.1" }) }),
      PROXY,
    );
  });

  it("is the n-th from the right; what stands left of it passes for nobody", () => {
    const chain = "6.6.6.6, 198.51.100.1, 10.0.0.3:4711, 10.0.0.2";
    assert.deepEqual([1, 2, 3].map((proxies) => behind(proxies, chain)), [
      "10.0.0.2",
      "10.0.0.3",
      "198.51.100.1",
    ]);
    assert.equal(behind(1, "[2001:db8::1]:80"), "2001:db8::/64");
    assert.equal(behind(2, '"6.6.6.6, 198.51.100.1, 10.0.0.2'), "198.51.100.1");
  });

  it("is the peer's when there are fewer entries, none, or no address where the client's should stand", () => {
    for (const forwarded of ["198.51.100.1", "", ",", "unknown, 10.0.0.2", ", 10.0.0.2"]) {
      assert.equal(behind(2, forwarded), PROXY);
    }
    assert.equal(clientAddress({ peer: PROXY, headers: null, trustedProxies: 1 }), PROXY);
    assert.equal(clientAddress({ peer: PROXY, trustedProxies: 1 }), PROXY);
    assert.equal(clientAddress({ peer: null, headers: new Headers(), trustedProxies: 1 }), null);
  });

  it("joins several headers of one name as they came", () => {
    const headers = new Headers([["x-forwarded-for", "6.6.6.6"], ["x-forwarded-for", "198.51.100.1"]]);
    assert.equal(clientAddress({ peer: PROXY, headers, trustedProxies: 1 }), "198.51.100.1");
  });

  it("is read off a record as well, in any letter case, of a list from its end", () => {
    const from = (headers: HeaderSource) => clientAddress({ peer: PROXY, headers, trustedProxies: 2 });
    assert.equal(from({ "X-Forwarded-For": "6.6.6.6, 198.51.100.1, 10.0.0.2" }), "198.51.100.1");
    assert.equal(from({ "x-forwarded-for": ["6.6.6.6", "198.51.100.1", "10.0.0.2"] }), "198.51.100.1");
    assert.equal(from({ "x-forwarded-for": ["6.6.6.6, 198.51.100.1, 10.0.0.2"] }), "198.51.100.1");
    assert.equal(from({}), PROXY);
  });

  it("is the peer's when headers hold junk or throw", () => {
    const { proxy, revoke } = Proxy.revocable([], {});
    revoke();
    const broken = () => {
      throw new Error("no headers");
    };
    for (const value of [7, null, {}, [7], [], proxy]) {
      assert.equal(clientAddress({ peer: PROXY, headers: { get: () => value }, trustedProxies: 1 }), PROXY);
    }
    assert.equal(clientAddress({ peer: PROXY, headers: { get: broken }, trustedProxies: 1 }), PROXY);
  });

  it("is found behind a megabyte that the client wrote, and not made of a piece of it", () => {
    const junk = "6.6.6.6, ".repeat(120_000);
    assert.equal(behind(1, `${junk}198.51.100.1`), "198.51.100.1");
    assert.equal(behind(1, `${" ".repeat(1_000_000)}198.51.100.1`), "198.51.100.1");
    assert.equal(behind(1, `${"6".repeat(1_000_000)}.1.1.1`), PROXY);
    // What is cut off at 128 characters would be an address by itself.
    assert.equal(behind(1, `9.9.9.9${" ".repeat(126)}1`), PROXY);
    assert.equal(behind(1, `junk${" ".repeat(121)}1.1.1.1`), PROXY);
  });

  it("refuses wrong settings by name", () => {
    const wrong: [unknown, RegExp][] = [
      [null, /options are null, .*: peer, headers/],
      [{ peer: PROXY, trustedProxies: -1 }, /trustedProxies is -1.*0 to 32/],
      [{ peer: PROXY, trustedProxies: 33 }, /trustedProxies is 33/],
      [{ peer: PROXY, trustedProxies: "1" }, /trustedProxies is "1"/],
      [{ peer: PROXY, ipv6Prefix: 0 }, /ipv6Prefix is 0.*1 to 128/],
      [{ peer: PROXY, ipv6Prefix: NaN }, /ipv6Prefix is NaN/],
      [{ peer: PROXY, headers: "6.6.6.6" }, /headers are "6.6.6.6".*Headers or a record/],
    ];
    for (const [facts, message] of wrong) {
      assert.throws(() => clientAddress(facts as ClientAddressFacts), message);
    }
  });
});

describe("Any address", () => {
  it("reads the same however it is written, and keeps its first bits and nothing else", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), {
          minLength: 8,
          maxLength: 8,
        }),
        fc.integer({ min: 1, max: 128 }),
        (groups, prefix) => {
          fc.pre(!(groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)));
          const plain = groups.map((group) => group.toString(16)).join(":");
          const long = `[${
            groups.map((group) => group.toString(16).toUpperCase().padStart(4, "0")).join(":")
          }]:80`;
          const key = of(plain, prefix)!;
          assert.equal(of(long, prefix), key);
          const [network = "", bits = "128"] = key.split("/");
          assert.equal(Number(bits), prefix);
          assert.equal(of(network, prefix), key);
          assert.equal(numberOf(network), (numberOf(plain) >> BigInt(128 - prefix)) << BigInt(128 - prefix));
          assert.doesNotMatch(network, /(^|:)0[0-9a-f]|[A-F]|::.*::/);
        },
      ),
    );
  });

  it("never comes of what a client writes before the entries of the proxies", () => {
    const address = fc.ipV4();
    const text = fc.oneof(
      fc.string({ maxLength: 300 }),
      fc.ipV4(),
      fc.ipV6(),
      fc.constantFrom(",", '"', "[", " "),
    );
    fc.assert(
      fc.property(
        fc.array(text, { maxLength: 8 }),
        fc.array(address, { minLength: 1, maxLength: 5 }),
        (junk, own) => {
          const value = [...junk, ...own].join(",");
          const headers = { get: () => value };
          assert.equal(clientAddress({ peer: PROXY, headers, trustedProxies: own.length }), own[0]);
        },
      ),
    );
  });

  it("or any text at all never throws, and is an address or nothing", () => {
    const text = fc.oneof(fc.string(), fc.ipV6(), fc.stringMatching(/^[0-9a-f:.[\]%/ ]{0,40}$/));
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 3 }), (value, trustedProxies) => {
        const key = clientAddress({ peer: value, headers: { get: () => value }, trustedProxies });
        assert.ok(key === null || key.length <= 43, String(key));
      }),
    );
  });
});

/** The bits of an IPv6 address in its short form. */
function numberOf(address: string): bigint {
  const [head = "", tail] = address.split("::").map((half) =>
    half.split(":").filter((group) => group !== "")
  );
  const groups = tail === undefined
    ? head as string[]
    : [...head, ...new Array<string>(8 - head.length - tail.length).fill("0"), ...tail];
  return groups.reduce((bits, group) => bits * 65_536n + BigInt(`0x${group}`), 0n);
}
