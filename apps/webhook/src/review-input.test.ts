// SPDX-License-Identifier: Apache-2.0
/** Hostile requests: every answer is a well-formed review, or a 4xx with a message. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { reviewedKinds } from "@switchyard/admission";
import fc from "fast-check";
import { paths } from "./server/review-server.ts";
import { namespace, startTestServer, type Answer, type TestServer } from "./testing/review-client.ts";
import { createPolicy, policy, responseOf, review, twoNodes } from "./testing/reviews.ts";

let testServer: TestServer;

beforeAll(async () => {
  testServer = await startTestServer({ view: twoNodes });
});

afterAll(async () => {
  await testServer[Symbol.asyncDispose]();
});

/** A review as text with `json` for the value of the policy's key "extra". */
function inReview(json: string): string {
  return JSON.stringify(createPolicy("p1", { extra: 1 })).replace('"extra":1', `"extra":${json}`);
}

function nested(levels: number): string {
  return `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
}

function expectSound(answer: Answer): void {
  if (answer.status === 200) {
    responseOf(answer);
    return;
  }
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  expect(JSON.parse(answer.body)).toEqual({ message: expect.any(String) });
}

describe("a request that is not a review", () => {
  const json = { "content-type": "application/json" };
  it.each<{ what: string; body: string; headers?: Record<string, string>; status: number }>([
    { what: "text", body: "hello", headers: { "content-type": "text/plain" }, status: 415 },
    { what: "a form", body: "a=1", headers: { "content-type": "application/x-www-form-urlencoded" }, status: 415 },
    { what: "no content type", body: "{}", headers: {}, status: 415 },
    { what: "nothing", body: "", status: 400 },
    { what: "JSON that ends early", body: '{"apiVersion":', status: 400 },
    { what: "a number", body: "5", status: 400 },
    { what: "null", body: "null", status: 400 },
    { what: "another kind", body: '{"apiVersion":"v1","kind":"Pod"}', status: 400 },
    {
      what: "v1beta1",
      body: '{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","request":{"uid":"1"}}',
      status: 400,
    },
    { what: "no request", body: '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}', status: 400 },
    { what: "brackets without end", body: "[".repeat(100_000), status: 400 },
    { what: "deep nesting", body: `${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}`, status: 400 },
    { what: "deep nesting in a review", body: inReview(nested(1000)), status: 400 },
    { what: "more than two of the largest objects", body: `"${"x".repeat(3.1 * 1024 * 1024)}"`, status: 413 },
  ])("$what is $status", async ({ body, headers = json, status }) => {
    for (const path of [paths.validate, paths.mutate]) {
      const answer = await testServer.post(path, body, { headers });
      expect(answer.status).toBe(status);
      expect(JSON.parse(answer.body)).toEqual({ message: expect.any(String) });
    }
  });

  it("does not count brackets in strings as nesting", async () => {
    const pfNames = ["[".repeat(500), `\\"${"{".repeat(500)}`];
    expect(
      responseOf(await testServer.post(paths.validate, createPolicy("p1", { nicSelector: { pfNames } }))).allowed,
    ).toBe(false);
  });

  it("gets 404 on other paths and for GET", async () => {
    expect((await testServer.post("/", "{}")).status).toBe(404);
    expect((await testServer.get(paths.validate)).status).toBe(404);
  });
});

describe("a prototype key", () => {
  /** The policy's review with `text` in place of the key "x". */
  const withKey = (object: unknown, key: string) => {
    const body = review("SriovNetworkNodePolicy", "CREATE", { object });
    return JSON.stringify(body).replaceAll('"x":', `${JSON.stringify(key)}:`);
  };

  it.each<{ at: string; object: object; field: string }>([
    {
      at: "a label",
      object: { ...policy("p1"), metadata: { name: "p1", namespace, labels: { x: "1" } } },
      field: "metadata.labels.__proto__",
    },
    { at: "a node selector", object: policy("p1", { nodeSelector: { x: "1" } }), field: "spec.nodeSelector.__proto__" },
    {
      at: "external ids",
      object: policy("p1", { eSwitchMode: "switchdev", bridge: { ovs: { bridge: { externalIDs: { x: "1" } } } } }),
      field: "spec.bridge.ovs.bridge.externalIDs.__proto__",
    },
    { at: "a field", object: policy("p1", { x: { numVfs: 1 } }), field: "spec.__proto__" },
    { at: "a list", object: policy("p1", { extra: [{ x: 1 }] }), field: "spec.extra[0].__proto__" },
    { at: "the object", object: { ...policy("p1"), x: { spec: {} } }, field: "__proto__" },
  ])("in $at is refused with its path", async ({ object, field }) => {
    const response = responseOf(await testServer.post(paths.validate, withKey(object, "__proto__")));
    expect(response).toMatchObject({ allowed: false, status: { code: 403, details: { causes: [{ field }] } } });
    expect(response.status?.message).toBe(`${field}: the key "__proto__" is reserved: use another one`);
    expect(responseOf(await testServer.post(paths.mutate, withKey(object, "__proto__"))).allowed).toBe(true);
    for (const key of ["constructor", "prototype", "hasOwnProperty", "toString"]) {
      expect(responseOf(await testServer.post(paths.validate, withKey(object, key))).allowed).toBe(true);
    }
  });

  it("does not prevent an object from being repaired or deleted", async () => {
    const stored = policy("p1", { nodeSelector: { x: "1" } });
    const send = async (operation: string, objects: object) => {
      const text = JSON.stringify(review("SriovNetworkNodePolicy", operation, objects)).replaceAll(
        '"x":',
        '"__proto__":',
      );
      return responseOf(await testServer.post(paths.validate, text)).allowed;
    };
    expect(await send("UPDATE", { object: policy("p1"), oldObject: stored })).toBe(true);
    expect(
      await send("UPDATE", {
        object: { ...stored, metadata: { name: "p1", namespace, labels: { a: "b" } } },
        oldObject: stored,
      }),
    ).toBe(true);
    expect(await send("DELETE", { oldObject: stored })).toBe(true);
  });

  it("is harmless outside of the object", async () => {
    const text = JSON.stringify(createPolicy("p1")).replace('"uid"', '"__proto__":{"uid":1},"uid"');
    for (const body of [
      text,
      `{"__proto__":{"kind":1},${text.slice(1)}`,
      text.replace('"jane"', '"jane","__proto__":{}'),
    ]) {
      expect(responseOf(await testServer.post(paths.validate, body)).allowed).toBe(true);
    }
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe("any input", () => {
  it("never crashes the server", async () => {
    const nasty = fc.oneof(
      fc.constantFrom(
        "__proto__",
        "constructor",
        "prototype",
        "'; rm -rf / #",
        '"quoted"',
        "a\nb",
        "$(id)",
        "\u0000",
        "😀",
      ),
      fc.string(),
    );
    const anything = fc.jsonValue({ maxDepth: 6 });
    const spec = fc.dictionary(
      fc.constantFrom(
        "resourceName",
        "nodeSelector",
        "numVfs",
        "nicSelector",
        "mtu",
        "priority",
        "bridge",
        "ipam",
        "metaPlugins",
      ),
      fc.oneof(anything, nasty),
    );
    const strange = fc.record({
      pfNames: fc.array(nasty),
      rootDevices: fc.array(nasty),
      vendor: nasty,
      deviceID: nasty,
      netFilter: nasty,
    });
    const wellTyped = fc
      .record({
        resourceName: nasty,
        nodeSelector: fc.dictionary(nasty, nasty),
        numVfs: fc.integer(),
        nicSelector: strange,
      })
      .map((fields) => ({ ...fields, linkType: "eth" }));
    const objects = fc.oneof(
      anything,
      fc.record({
        metadata: fc.oneof(fc.constant({ name: "p", namespace }), anything),
        spec: fc.oneof(spec, wellTyped),
      }),
    );
    const kinds = fc.constantFrom(
      ...["SriovNetworkNodePolicy", "SriovNetworkPoolConfig", "SriovOperatorConfig", "SriovNetwork", "SriovIBNetwork"],
      ...["OVSNetwork", "BridgeNetwork", "Pod", "toString", "__proto__"],
    );
    const operations = fc.constantFrom("CREATE", "UPDATE", "DELETE", "CONNECT", "toString");
    const property = fc.asyncProperty(
      kinds,
      operations,
      objects,
      objects,
      async (kind, operation, object, oldObject) => {
        for (const path of [paths.validate, paths.mutate]) {
          expectSound(await testServer.post(path, review(kind, operation, { object, oldObject })));
        }
      },
    );
    await fc.assert(property, { numRuns: 300 });
    expect((await testServer.get(paths.ready)).status).toBe(200);
    expect(testServer.log.filter((line) => line.includes('"error"'))).toEqual([]);
  });

  // The fields that the root of each CRD requires, for clients that are no API server.
  it.each(reviewedKinds)("that is a %s without its spec gets a well-formed answer", async (kind) => {
    for (const object of [{ metadata: {} }, { metadata: { name: "p1", namespace }, spec: null }]) {
      for (const path of [paths.validate, paths.mutate]) {
        expectSound(await testServer.post(path, review(kind, "CREATE", { object })));
        expectSound(await testServer.post(path, review(kind, "UPDATE", { object, oldObject: object })));
      }
    }
    expect(testServer.log.filter((line) => line.includes('"error"'))).toEqual([]);
  });

  it("that is a damaged review gets a well-formed answer", async () => {
    const texts = fc.constantFrom(
      JSON.stringify(createPolicy("p1")),
      JSON.stringify(createPolicy("p1", { numVfs: 65, nicSelector: { pfNames: ["a#b", '"', "\n"] } })),
      JSON.stringify(review("SriovNetwork", "UPDATE", { object: {}, oldObject: [] })),
    );
    const patches = fc.oneof(
      fc.constantFrom(
        "[".repeat(200),
        "{",
        "}",
        '"',
        "\\",
        "null",
        "1e999",
        '"__proto__":{},',
        '{"__proto__":[]}',
        "\u0000",
        nested(70),
      ),
      fc.string(),
    );
    const types = fc.constantFrom(
      ...["application/json", "application/json; charset=utf-8", "APPLICATION/JSON", "text/plain", "application/yaml"],
      ...["application/json-patch+json", "multipart/form-data; boundary=x", ";", "application/json;charset"],
    );
    const property = fc.asyncProperty(
      ...([texts, patches, fc.nat(), fc.nat(40), types] as const),
      async (text, patch, place, cut, type) => {
        const at = place % text.length;
        const damaged = text.slice(0, at) + patch + text.slice(at + cut);
        for (const body of [damaged, text.slice(0, at)]) {
          expectSound(await testServer.post(paths.validate, body, { headers: { "content-type": type } }));
        }
      },
    );
    await fc.assert(property, { numRuns: 300 });
    expect(testServer.log.filter((line) => line.includes('"error"'))).toEqual([]);
  });
});
