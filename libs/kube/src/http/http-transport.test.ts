// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createServer, type RequestListener } from "node:http";
import { inspect } from "node:util";
import { keepFresh } from "./credentials.ts";
import { HttpTransport, type HttpTransportOptions } from "./http-transport.ts";
import { readServiceAccount } from "../connect/in-cluster.ts";
import { eventually, FakeClock } from "../testing/fake-clock.ts";
import { FakeApiServer } from "../testing/fake-api-server.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import type { WatchEvent } from "./transport.ts";

const path = "/api/v1/namespaces/ns/configmaps";

async function setUp(options: HttpTransportOptions = {}) {
  const server = await FakeApiServer.start();
  const transport = new HttpTransport(server.endpoint, options);
  return {
    server,
    transport,
    async [Symbol.asyncDispose]() {
      await transport[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Starts a server with `listener`. `connections` counts all connections that were opened. */
async function serve(listener: RequestListener) {
  const http = createServer(listener);
  let connections = 0;
  http.on("connection", () => connections++);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const address = http.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return {
    server: new URL(`http://127.0.0.1:${port ?? 0}`),
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

describe("HttpTransport.request", () => {
  it("passes on each warning of a response", async () => {
    const warnings = ['299 - "spec.numVfs \\"8\\" is odd"', '299 - "µ: deprecated"'];
    await using it = await serve((_request, response) => {
      response.setHeader(
        "warning",
        warnings.map((text) => Buffer.from(text).toString("latin1")),
      );
      response.end(Buffer.from("{}")); // with a text, Node.js would write the headers as UTF-8
    });
    await using transport = new HttpTransport({ server: it.server, namespace: "ns" });
    const seen: string[] = [];
    await transport.request({ method: "GET", path, onWarning: (text) => seen.push(text) });
    expect(seen).toEqual(['spec.numVfs "8" is odd', "µ: deprecated"]);
  });

  it("sends the request as JSON and returns the JSON of the response", async () => {
    await using it = await setUp({ userAgent: "test/1" });
    const answer = await it.transport.request({
      method: "PATCH",
      path: `${path}/a`,
      query: { fieldManager: "me & you", force: true, dryRun: undefined },
      contentType: "application/apply-patch+yaml",
      accept: "application/json;as=x",
      body: { data: { color: "grün" } },
    });
    expect(answer).toMatchObject({ kind: "ConfigMap", data: { color: "grün" } });
    expect(it.server.requests).toMatchObject([
      {
        method: "PATCH",
        path: `${path}/a`,
        query: { fieldManager: "me & you", force: "true" },
        headers: {
          "content-type": "application/apply-patch+yaml",
          accept: "application/json;as=x",
          "user-agent": "test/1",
        },
        body: { data: { color: "grün" } },
      },
    ]);
  });

  it("authenticates and keeps the base path of the server", async () => {
    await using server = await serve(({ url, headers }, response) => {
      response.end(JSON.stringify({ url, headers }));
    });
    const url = new URL("/k8s/clusters/c-1/", server.server);
    const headers = { authorization: "Bearer secret", "impersonate-group": ["a", "b"] };
    const credentials = keepFresh(() => Promise.resolve({ headers, tls: {} }));
    await using transport = new HttpTransport({ server: url, namespace: "ns", credentials });
    expect(await transport.request({ method: "GET", path: "/version" })).toMatchObject({
      url: "/k8s/clusters/c-1/version",
      headers: { authorization: "Bearer secret", "impersonate-group": "a, b" },
    });
  });

  it("loads the token again when the server has rejected it", async () => {
    await using directory = await TemporaryDirectory.of({ token: "old", "ca.crt": "" });
    await using server = await serve(({ headers }, response) => {
      response.writeHead(headers.authorization === "Bearer new" ? 200 : 401).end("{}");
    });
    const credentials = keepFresh(() => readServiceAccount(directory.path));
    await using transport = new HttpTransport({ ...server, namespace: "ns", credentials });
    await expect(transport.request({ method: "GET", path: "/" })).rejects.toMatchObject({ code: "Unauthorized" });
    await directory.write("token", "new");
    expect(await transport.request({ method: "GET", path: "/" })).toEqual({});
  });

  it("follows the server to another address, with the token that is read again", async () => {
    await using first = await setUp();
    await using second = await setUp();
    let { server } = first.server.endpoint;
    const load = () => Promise.resolve({ headers: {}, tls: {}, server });
    const source = keepFresh(load, { maxAgeMs: 0 });
    await using transport = new HttpTransport({ server, namespace: "ns", credentials: source });
    await transport.request({ method: "GET", path });
    ({ server } = second.server.endpoint);
    await transport.request({ method: "GET", path });
    expect([first, second].map((it) => it.server.requests.length)).toEqual([1, 1]);
    expect([transport.serverHost, transport.serverPort]).toEqual(["127.0.0.1", Number(server.port)]);
  });

  it("opens at most maxConnections connections and reuses them", async () => {
    await using server = await serve((_, response) => response.end("{}"));
    await using transport = new HttpTransport({ ...server, namespace: "ns" }, { maxConnections: 3 });
    const get = () => transport.request({ method: "GET", path: "/" });
    await Promise.all(Array.from({ length: 50 }, get));
    await Promise.all(Array.from({ length: 50 }, get));
    expect(server.connections()).toBe(3);
  });

  it("sends reserved requests over a separate connection while all others hang", async () => {
    await using server = await serve(({ url = "" }, response) => {
      if (url !== "/writes") response.end("{}");
    });
    await using transport = new HttpTransport({ ...server, namespace: "ns" }, { maxConnections: 2 });
    const end = new AbortController();
    const hanging = Array.from({ length: 10 }, () =>
      transport.request({ method: "PATCH", path: "/writes", body: {}, signal: end.signal }).catch(() => "ended"),
    );
    await eventually(() => server.connections() === 2);
    const renew = () =>
      transport.request({ method: "PUT", path: "/lease", body: {}, timeoutMs: 5_000, reserved: true });
    expect([await renew(), await renew()]).toEqual([{}, {}]);
    expect(await Promise.all([renew(), renew(), renew()])).toEqual([{}, {}, {}]);
    expect(server.connections()).toBe(3);
    end.abort();
    await Promise.all(hanging);
  });

  it("rejects with the content of the server's Status", async () => {
    await using it = await setUp();
    const details = { name: "a", causes: [{ reason: "FieldValueInvalid", message: "is bad", field: "spec.x" }] };
    const status = { kind: "Status", reason: "Invalid", message: "a is bad", details, code: 422 };
    it.server.failNext({ status: 422, body: JSON.stringify(status) });
    await expect(it.transport.request({ method: "GET", path: `${path}/a` })).rejects.toMatchObject({
      name: "KubeError",
      message: `GET ${path}/a: Invalid (a is bad)`,
      tried: `GET ${path}/a`,
      code: "Invalid",
      status: 422,
      details,
    });
  });

  it.each([
    { status: 429, headers: { "retry-after": "3" }, body: "slow down", code: "TooManyRequests", retryAfterMs: 3000 },
    { status: 503, headers: {}, body: "<html>down</html>", code: "ServiceUnavailable", retryAfterMs: undefined },
    { status: 302, headers: { location: "/login" }, body: "", code: "UnexpectedResponse", retryAfterMs: undefined },
    {
      status: 500,
      headers: {},
      body: JSON.stringify({ kind: "Status", reason: "ServerTimeout", details: { retryAfterSeconds: 2 } }),
      code: "ServerTimeout",
      retryAfterMs: 2000,
    },
  ])("rejects with $code for a $status", async ({ code, retryAfterMs, ...fault }) => {
    await using it = await setUp();
    it.server.failNext(fault);
    const failure = it.transport.request({ method: "GET", path });
    await expect(failure).rejects.toMatchObject({ code, status: fault.status, retryAfterMs });
  });

  it("rejects with UnexpectedResponse for a response that is not JSON", async () => {
    await using it = await setUp();
    it.server.failNext({ status: 200, body: "{" });
    await expect(it.transport.request({ method: "GET", path })).rejects.toMatchObject({ code: "UnexpectedResponse" });
  });

  it("does not quote such a response, which can be a Secret, not even in a cause", async () => {
    await using it = await setUp();
    it.server.failNext({ status: 200, body: '{"data":{"tls.key":"U0VDUkVU" "x"}}' });
    const failure: unknown = await it.transport.request({ method: "GET", path }).catch((error: unknown) => error);
    expect(inspect(failure)).toContain("the response is not JSON");
    expect(inspect(failure)).not.toContain("U0VDU");
  });

  it("rejects with ConnectionLost when the server is not there or closes the connection", async () => {
    await using it = await setUp();
    it.server.failNext("reset");
    const lost = it.transport.request({ method: "GET", path });
    await expect(lost).rejects.toMatchObject({ code: "ConnectionLost", cause: { code: "ECONNRESET" } });
    await it.server[Symbol.asyncDispose]();
    const refused = it.transport.request({ method: "GET", path });
    await expect(refused).rejects.toMatchObject({ code: "ConnectionLost", cause: { code: "ECONNREFUSED" } });
  });

  it("rejects with ConnectionLost when the response is incomplete", async () => {
    await using server = await serve((_, response) => {
      response.writeHead(200, { "content-length": "100" }).write("{");
      setImmediate(() => response.destroy());
    });
    await using transport = new HttpTransport({ ...server, namespace: "ns" });
    await expect(transport.request({ method: "GET", path: "/" })).rejects.toMatchObject({ code: "ConnectionLost" });
  });

  it("rejects with Timeout without a response in time, also while it waits for a connection", async () => {
    const clock = new FakeClock();
    await using it = await setUp({ clock, maxConnections: 1 });
    it.server.failNext("silence");
    const slow = it.transport.request({ method: "GET", path, timeoutMs: 5000 });
    const queued = it.transport.request({ method: "GET", path, timeoutMs: 4000 });
    const both = Promise.allSettled([slow, queued]);
    await eventually(() => it.server.requests.length === 1);
    await clock.advance(4000);
    expect(await Promise.race([slow, queued.catch((error: unknown) => error)])).toMatchObject({ code: "Timeout" });
    await clock.advance(1000);
    expect(await both).toMatchObject([{ reason: { code: "Timeout" } }, { reason: { code: "Timeout" } }]);
    expect(await it.transport.request({ method: "GET", path })).toMatchObject({ kind: "ConfigMapList" });
    expect(clock.pending).toBe(0);
  });

  it("rejects with the signal's reason when it aborts before or during the request", async () => {
    await using it = await setUp();
    const reason = new Error("enough");
    const get = (signal: AbortSignal) => it.transport.request({ method: "GET", path, signal });
    await expect(get(AbortSignal.abort(reason))).rejects.toBe(reason);
    it.server.failNext("silence");
    const stop = new AbortController();
    const failure = get(stop.signal);
    void eventually(() => it.server.requests.length > 0).then(() => {
      stop.abort(reason);
    });
    await expect(failure).rejects.toBe(reason);
  });

  it("aborts running requests when it is disposed", async () => {
    await using it = await setUp();
    it.server.failNext("silence");
    const failure = it.transport.request({ method: "GET", path }).catch((error: unknown) => error);
    await eventually(() => it.server.requests.length === 1);
    const watching = it.transport
      .watch({ path })
      [Symbol.asyncIterator]()
      .next()
      .catch((error: unknown) => error);
    await eventually(() => it.server.requests.length === 2);
    await it.transport[Symbol.asyncDispose]();
    expect(await Promise.all([failure, watching])).toMatchObject([
      { code: "ConnectionLost" },
      { code: "ConnectionLost" },
    ]);
    await expect(it.transport.request({ method: "GET", path })).rejects.toMatchObject({ code: "ConnectionLost" });
  });
});

describe("HttpTransport.watch", () => {
  async function setUpWatch() {
    const set = await setUp();
    const events: WatchEvent[] = [];
    const ended = (async () => {
      for await (const event of set.transport.watch({ path, query: { resourceVersion: "100" } })) events.push(event);
      return "ended";
    })().catch((error: unknown) => error);
    await eventually(() => set.server.watching === 1);
    return { ...set, events, ended };
  }

  it("yields events as they arrive and ends when the server ends the watch", async () => {
    await using it = await setUpWatch();
    it.server.put("a", { color: "red" });
    await eventually(() => it.events.length === 1);
    it.server.delete("a");
    it.server.bookmark();
    await eventually(() => it.events.length === 3);
    it.server.cutWatches("in-order");
    expect(await it.ended).toBe("ended");
    expect(it.events).toMatchObject([
      { type: "ADDED", object: { metadata: { name: "a" }, data: { color: "red" } } },
      { type: "DELETED", object: { metadata: { name: "a" } } },
      { type: "BOOKMARK", resourceVersion: "103" },
    ]);
  });

  it.each(["reset", "within-object"] as const)("throws ConnectionLost when the connection breaks: %s", async (how) => {
    await using it = await setUpWatch();
    it.server.put("a", { color: "red" });
    await eventually(() => it.events.length === 1);
    it.server.cutWatches(how);
    expect(await it.ended).toMatchObject({ code: "ConnectionLost" });
    expect(it.events).toHaveLength(1);
  });

  it("throws Expired when the server no longer has the resourceVersion", async () => {
    await using it = await setUp();
    it.server.put("a", {});
    it.server.compact();
    const events = Array.fromAsync(it.transport.watch({ path, query: { resourceVersion: "100" } }));
    await expect(events).rejects.toMatchObject({ code: "Expired", status: 410 });
  });

  it("has a time limit only for the head of the response", async () => {
    const clock = new FakeClock();
    await using it = await setUp({ clock });
    it.server.failNext("silence");
    const first = it.transport.watch({ path, timeoutMs: 1000 })[Symbol.asyncIterator]().next();
    const failure = first.catch((error: unknown) => error);
    await eventually(() => it.server.requests.length === 1);
    await clock.advance(1000);
    expect(await failure).toMatchObject({ code: "Timeout" });

    const next = it.transport
      .watch({ path, timeoutMs: 1000, query: { resourceVersion: "100" } })
      [Symbol.asyncIterator]()
      .next();
    await eventually(() => it.server.watching === 1 && clock.pending === 0);
    await clock.advance(3_600_000);
    it.server.put("a", {});
    expect((await next).value).toMatchObject({ type: "ADDED" });
  });

  it("reuses the connection of a finished request, and other requests use other connections", async () => {
    const bookmark = { type: "BOOKMARK", object: { metadata: { resourceVersion: "1" } } };
    await using server = await serve(({ url }, response) => {
      if (url?.includes("watch=true") === true) response.write(`${JSON.stringify(bookmark)}\n`);
      else response.end("{}");
    });
    await using transport = new HttpTransport({ ...server, namespace: "ns" });
    await transport.request({ method: "GET", path });
    const watch = transport.watch({ path });
    expect((await watch.next()).value).toEqual({ type: "BOOKMARK", resourceVersion: "1" });
    expect(server.connections()).toBe(1);
    await transport.request({ method: "GET", path });
    expect(server.connections()).toBe(2);
    await watch.return();
  });

  it("does not share the limit of requests and closes its connection when the reader stops", async () => {
    await using it = await setUp({ maxConnections: 1 });
    const watches = [1, 2, 3].map(() =>
      it.transport.watch({ path, query: { resourceVersion: "100" } })[Symbol.asyncIterator](),
    );
    const events = watches.map((watch) => watch.next());
    await eventually(() => it.server.watching === 3);
    await it.transport.request({
      method: "PATCH",
      path: `${path}/a`,
      contentType: "application/apply-patch+yaml",
      body: {},
    });
    expect(await Promise.all(events)).toHaveLength(3);
    await Promise.all(watches.map((watch) => watch.return()));
    await eventually(() => it.server.watching === 0);
  });
});
