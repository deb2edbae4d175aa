// SPDX-License-Identifier: Apache-2.0
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createStateReader, emptyView } from "@switchyard/admission";
import { request } from "node:https";
import { paths } from "./review-server.ts";
import { makePair, namespace, send, startTestServer, type Answer, type TestServer } from "../testing/review-client.ts";
import { createPolicy, policy, responseOf, review, twoNodes as view } from "../testing/reviews.ts";

let testServer: TestServer;

beforeAll(async () => {
  testServer = await startTestServer({ view });
});

afterAll(async () => {
  await testServer[Symbol.asyncDispose]();
});

describe("a secret path", () => {
  const secret = "abcdefghijklmnopqrstuvwxyz_-0123";

  it("is needed for reviews, and without it nothing is answered, whatever the body", async () => {
    await using server = await startTestServer({ view, acceptsPath: (path) => path === secret });
    for (const path of [paths.validate, paths.mutate]) {
      expect(responseOf(await server.post(`/${secret}${path}`, createPolicy("p1"))).allowed).toBe(true);
      for (const wrong of ["", "/", "/abc", `/${secret.toUpperCase()}`, `/x/${secret}`, `/${secret}/..`]) {
        const answer = await server.post(`${wrong}${path}`, createPolicy("p1", { numVfs: 65 }));
        expect([wrong, answer.status, answer.body]).toEqual([
          wrong,
          404,
          JSON.stringify({ message: "POST is not supported on this path" }),
        ]);
      }
    }
    expect(server.log.filter((line) => line.includes(secret))).toEqual([]);
  });

  it("is not needed if the webhook has none", async () => {
    expect((await testServer.post(`/${secret}${paths.validate}`, createPolicy("p1"))).status).toBe(404);
    expect((await testServer.post(paths.validate, createPolicy("p1"))).status).toBe(200);
  });
});

describe("the mutating path", () => {
  it("answers with a JSON patch of the defaults", async () => {
    const response = responseOf(await testServer.post(paths.mutate, createPolicy("p1")));
    const patch: unknown = JSON.parse(Buffer.from(response.patch ?? "", "base64").toString());
    expect(patch).toEqual([
      { op: "add", path: "/spec/priority", value: 99 },
      { op: "add", path: "/spec/isRdma", value: false },
    ]);
  });

  it("does not change objects that later checks refuse", async () => {
    for (const object of [null, 7, { metadata: {} }, policy("p1", { numVfs: "many" })]) {
      const response = responseOf(
        await testServer.post(paths.mutate, review("SriovNetworkNodePolicy", "CREATE", { object })),
      );
      expect(response).toEqual({ uid: "705ab4f5-6393-11e8-b7cc-42010a800002", allowed: true });
    }
  });
});

describe("the validating path", () => {
  it("refuses as the API server does, with all fields at once", async () => {
    const response = responseOf(
      await testServer.post(paths.validate, createPolicy("p1", { numVfs: 65, resourceName: "a b" })),
    );
    expect(response.allowed).toBe(false);
    expect(response.status).toMatchObject({ code: 403, reason: "Invalid", status: "Failure" });
    expect(response.status?.message).toMatch(/^spec.resourceName: .*; spec.numVfs: 65 VFs /);
    expect(response.status?.details).toMatchObject({
      kind: "SriovNetworkNodePolicy",
      causes: [{ field: "spec.resourceName" }, { field: "spec.numVfs" }],
    });
  });

  it("warns about the impact of a policy", async () => {
    const read = createStateReader();
    const pf = { pciAddress: "0000:3b:00.0", name: "ens1f0", vendor: "8086", totalvfs: 64, numVfs: 2, owned: true };
    const labels = { "node-role.kubernetes.io/worker": "", "kubernetes.io/os": "linux" };
    const nodes = [{ name: "w1", labels, state: read({ status: { interfaces: [pf] } }) }];
    await using other = await startTestServer({ view: () => ({ ...emptyView(namespace), nodes }) });
    const response = responseOf(await other.post(paths.validate, createPolicy("p1")));
    expect(response.warnings).toEqual(["reconfigures 0000:3b:00.0 (2 -> 4 VFs) on w1: drains w1"]);
  });

  it("names the path of a value with a wrong type", async () => {
    const object = policy("p1", { nicSelector: { pfNames: ["a", 7] } });
    const response = responseOf(
      await testServer.post(paths.validate, review("SriovNetworkNodePolicy", "UPDATE", { object, oldObject: object })),
    );
    expect(response.status?.message).toBe("spec.nicSelector.pfNames[1]: must be string");
  });

  it("admits deletions of unreadable objects and kinds without rules", async () => {
    const unreadable = review("SriovNetworkNodePolicy", "DELETE", { oldObject: { metadata: { name: 5 } } });
    const unknown = review("SriovFutureKind", "CREATE", { object: {} });
    const connect = review("SriovNetworkNodePolicy", "CONNECT", {});
    for (const body of [unreadable, unknown, connect]) {
      expect(responseOf(await testServer.post(paths.validate, body)).allowed).toBe(true);
    }
  });

  it("answers each of many concurrent reviews as if it were the only one (sriov-operator.md M-26)", async () => {
    const reviews = Array.from({ length: 120 }, (_, index) => {
      const numVfs = index % 3 === 0 ? 65 : 4;
      return {
        fits: numVfs === 4,
        body: createPolicy(`p${index}`, { numVfs, nodeSelector: index % 2 ? { worker: "" } : {} }),
      };
    });
    const answers = await Promise.all(reviews.map(({ body }) => testServer.post(paths.validate, body)));
    expect(answers.map((answer) => responseOf(answer).allowed)).toEqual(reviews.map(({ fits }) => fits));
  });

  it("logs the user at level debug only", async () => {
    responseOf(await testServer.post(paths.validate, createPolicy("p1")));
    expect(testServer.log.filter((line) => line.includes("jane"))).toEqual([]);
  });
});

describe("before the caches are synced", () => {
  it("is not ready, and answers no review", async () => {
    const reasons = ["states not synced"];
    await using early = await startTestServer({ notReady: () => reasons, cannotReview: () => reasons });
    expect(await early.get(paths.ready)).toMatchObject({ status: 503, body: "states not synced\n" });
    expect((await early.post(paths.validate, createPolicy("p1"))).status).toBe(503);
    reasons.pop();
    expect((await early.get(paths.ready)).status).toBe(200);
    expect((await early.post(paths.validate, createPolicy("p1"))).status).toBe(200);
  });
});

describe("with stale caches", () => {
  it("is not ready, and still answers reviews", async () => {
    await using late = await startTestServer({ notReady: () => ["nodes: stale"] });
    expect((await late.get(paths.ready)).status).toBe(503);
    expect((await late.post(paths.validate, createPolicy("p1"))).status).toBe(200);
  });
});

describe("a replaced certificate", () => {
  it("is used for new connections, and no review fails meanwhile", async () => {
    await using server = await startTestServer({ view });
    const next = await makePair();
    const both = server.pair.ca + next.ca;
    let isDone = false;
    const load = Array.from({ length: 4 }, async () => {
      let answered = 0;
      while (!isDone) {
        // A new connection for each review: each one has a TLS handshake.
        const answer = await server.post(paths.validate, createPolicy("p1"), connectionOf(server, both));
        expect(responseOf(answer).allowed).toBe(true);
        answered += 1;
      }
      return answered;
    });
    for (let round = 0; round < 20; round++) {
      server.server.setKeyPair(round % 2 === 0 ? next : server.pair);
      await server.post(paths.validate, createPolicy("p1"), connectionOf(server, both));
    }
    server.server.setKeyPair(next);
    isDone = true;
    for (const answered of await Promise.all(load)) expect(answered).toBeGreaterThan(0);
    const shown = await server.post(paths.validate, createPolicy("p1"), connectionOf(server, next.ca));
    expect(shown.status).toBe(200);
  });

  function connectionOf({ server }: TestServer, ca: string) {
    return { host: "127.0.0.1", port: server.port, ca, agent: false } as const;
  }
});

describe("shutdown", () => {
  it("fails no review while the Service switches to another replica", async () => {
    await using other = await startTestServer({ view });
    const ending = await startTestServer({ view, lingerMs: 2000 });
    let target = ending;
    let isDone = false;
    const answers: Answer[] = [];
    const load = Array.from({ length: 8 }, async () => {
      while (!isDone) answers.push(await target.post(paths.validate, createPolicy("p1")));
    });
    await ending.post(paths.validate, createPolicy("p1"));
    const ended = ending[Symbol.asyncDispose]();
    // /readyz fails at once. Reviews are answered for two more seconds.
    expect((await ending.get(paths.ready)).status).toBe(503);
    expect((await ending.post(paths.validate, createPolicy("p1"))).headers["connection"]).toBe("close");
    target = other;
    await ended;
    isDone = true;
    await Promise.all(load);
    expect(answers.length).toBeGreaterThan(8);
    for (const answer of answers) expect(responseOf(answer).allowed).toBe(true);
    await expect(ending.get(paths.ready)).rejects.toThrow("ECONNREFUSED");
  });

  it("waits for a pending review", async () => {
    const ending = await startTestServer({ view });
    const asked = new Promise<Answer>((resolve, reject) => {
      const { port } = ending.server;
      const text = JSON.stringify(createPolicy("p1"));
      const headers = {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(text),
        expect: "100-continue",
      };
      const options = { host: "127.0.0.1", port, ca: ending.pair.ca, path: paths.validate, method: "POST", headers };
      const slow = request(options, (response) => {
        response.setEncoding("utf8");
        let body = "";
        response.on("data", (chunk: string) => (body += chunk));
        response.on("end", () => {
          resolve({ status: response.statusCode ?? 0, body, headers: response.headers });
        });
      });
      slow.on("error", reject);
      // The server has the headers of the request and waits for the body.
      slow.on("continue", () => {
        void ending[Symbol.asyncDispose]();
        slow.end(text);
      });
      slow.flushHeaders();
    });
    expect(responseOf(await asked).allowed).toBe(true);
  });
});

describe("TLS", () => {
  it("requires at least version 1.2", async () => {
    const options = { host: "127.0.0.1", port: testServer.server.port, ca: testServer.pair.ca, agent: false } as const;
    const body = JSON.stringify(createPolicy("p1"));
    const post = { ...options, path: paths.validate, method: "POST", headers: { "content-type": "application/json" } };
    await expect(send({ ...post, maxVersion: "TLSv1.1", minVersion: "TLSv1" }, body)).rejects.toThrow();
    expect((await send({ ...post, maxVersion: "TLSv1.2" }, body)).status).toBe(200);
    expect((await send({ ...post, minVersion: "TLSv1.3" }, body)).status).toBe(200);
  });
});
