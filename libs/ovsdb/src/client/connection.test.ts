// SPDX-License-Identifier: Apache-2.0
/** Connections to servers that misbehave, which a real ovsdb-server does not do on request. */
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@switchyard/testing";
import { OvsdbClient } from "./client.ts";
import { connect } from "./connection.ts";
import { Monitor } from "./monitor.ts";
import { bridge } from "../vswitch/tables.ts";

/** A server on a Unix socket that leaves each connection to `serve`. */
async function startServer(serve: (socket: Socket) => void): Promise<AsyncDisposable & { readonly endpoint: string }> {
  const directory = await mkdtemp(join(tmpdir(), "switchyard-ovsdb-"));
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    serve(socket);
  });
  const path = join(directory, "db.sock");
  await once(server.listen(path), "listening");
  return {
    endpoint: `unix:${path}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await rm(directory, { recursive: true });
    },
  };
}

describe("Connection", () => {
  it("answers the server's echo requests, and refuses others", async () => {
    const received: string[] = [];
    await using server = await startServer((socket) => {
      socket.on("data", (chunk: Buffer) => received.push(chunk.toString()));
      socket.write('{"id":"probe","method":"echo","params":[1]}{"id":7,"method":"stolen","params":[]}');
    });
    await using _connection = await connect(server.endpoint);
    await eventually("both are answered", () => received.join("").includes("unknown method"));
    expect(received.join("")).toBe(
      '{"id":"probe","result":[1],"error":null}{"id":7,"result":null,"error":"unknown method"}',
    );
  });

  it.each([
    { what: "closes the connection", serve: (socket: Socket) => socket.end(), reason: "closed the connection" },
    { what: "sends no JSON", serve: (socket: Socket) => socket.write("HTTP/1.1 400"), reason: 'the server sent "H"' },
    {
      what: "sends half a message",
      serve: (socket: Socket) => socket.end('{"id":0,"res'),
      reason: "closed the connection",
    },
  ])("rejects requests when the server $what", async ({ serve, reason }) => {
    await using server = await startServer((socket) => {
      socket.once("data", () => serve(socket));
    });
    await using connection = await connect(server.endpoint);
    await expect(connection.request("list_dbs", [])).rejects.toMatchObject({
      code: "disconnected",
      message: expect.stringContaining(reason),
    });
    await expect(connection.request("list_dbs", [])).rejects.toMatchObject({ code: "disconnected" });
    expect((await connection.closed).message).toContain(reason);
  });

  it("cancels a transaction that nobody waits for any more", async () => {
    const received: string[] = [];
    await using server = await startServer((socket) => {
      socket.on("data", (chunk: Buffer) => received.push(chunk.toString()));
    });
    await using connection = await connect(server.endpoint);
    const abort = new AbortController();
    const request = connection.request("transact", ["db"], abort.signal);
    abort.abort();
    await expect(request).rejects.toMatchObject({ code: "aborted" });
    await eventually("it is cancelled", () => received.join("").includes('"cancel"'));
    expect(received.join("")).toContain('{"id":null,"method":"cancel","params":[0]}');
  });

  const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;

  it.each([
    { what: "an echo request with", message: `{"id":"e","method":"echo","params":[${deep}]}` },
    { what: "an answer with", message: `{"id":0,"error":{"x":${deep}},"result":null}` },
    { what: "a notification with", message: `{"id":null,"method":"update3","params":[${deep}]}` },
  ])("is closed by $what 20,000 levels", async ({ message }) => {
    await using server = await startServer((socket) => {
      socket.once("data", () => socket.write(message));
    });
    await using connection = await connect(server.endpoint);
    await expect(connection.request("list_dbs", [])).rejects.toMatchObject({ code: "disconnected" });
    expect(await connection.closed).toMatchObject({ code: "protocol" });
  });

  it("is closed by a notification that its receiver cannot process", async () => {
    await using server = await startServer((socket) => {
      socket.write('{"id":null,"method":"update","params":[]}');
    });
    await using connection = await connect(server.endpoint, {
      onNotification() {
        throw new TypeError("not a function");
      },
    });
    expect(await connection.closed).toMatchObject({ code: "protocol", cause: expect.any(TypeError) });
  });

  it("rejects a request with at most 500 characters of the server's words", async () => {
    await using server = await startServer((socket) => {
      socket.once("data", () => socket.write(`{"id":0,"error":"${"x".repeat(100_000)}","result":null}`));
    });
    await using connection = await connect(server.endpoint);
    const error = await connection.request("list_dbs", []).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: "refused", message: expect.stringMatching(/^list_dbs: x{500}$/) });
  });

  it.each(["constructor", "__proto__", "toString", "hasOwnProperty"])(
    "ignores a column %s in rows and changes of rows",
    async (name) => {
      const row = `{"initial":{"name":"br0","${name}":1}}`;
      const answer = { request: () => Promise.resolve([false, "t1", JSON.parse(`{"Bridge":{"u":${row}}}`)]) };
      const monitor = new Monitor("m", "db", [bridge]);
      await monitor.start(answer);
      const change = `{"Bridge":{"u":{"modify":{"${name}":1}}}}`;
      monitor.receive("update3", ["m", "t2", JSON.parse(change)]);
      expect(monitor.cache.rows(bridge).get("u")).toMatchObject({ name: "br0" });
    },
  );

  it("survives whatever a server sends", async () => {
    const junk = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      fc
        .record(
          {
            id: fc.constantFrom<unknown>(0, 1, null, "x"),
            method: fc.constantFrom<unknown>("update", "update2", "update3", "echo", 5),
            params: fc.jsonValue({ maxDepth: 4 }),
            result: fc.jsonValue({ maxDepth: 4 }),
            error: fc.jsonValue({ maxDepth: 2 }),
          },
          { requiredKeys: [] },
        )
        .map((message) => Buffer.from(JSON.stringify(message))),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(junk, { minLength: 1, maxLength: 4 }), async (chunks) => {
        await using server = await startServer((socket) => {
          for (const chunk of chunks) socket.write(chunk);
          socket.end();
        });
        await using client = new OvsdbClient({ endpoints: [server.endpoint], database: "db", monitor: [] });
        await eventually("the attempt has ended", () => !client.state.isConnected && client.state.error !== undefined);
      }),
      { numRuns: 60 },
    );
  }, 60_000);
});
