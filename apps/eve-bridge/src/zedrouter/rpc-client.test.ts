// SPDX-License-Identifier: Apache-2.0
import { createServer, type Socket } from "node:net";
import { describe, expect, it } from "@jest/globals";
import { cniCode } from "../request/cni-error.ts";
import { connectRpc } from "./rpc-client.ts";
import { createStopSignal } from "../process/stop-signal.ts";
import { listen, refusalOf, replyTo, type Received } from "../testing/rpc-server.ts";
import { createScratch } from "../testing/scratch.ts";

const patient = { timeoutMs: 20_000 };
const hasty = { timeoutMs: 30 };

/** A connection to a new server, which records the requests in `received`. */
async function serve(answer: (request: Received, socket: Socket) => void) {
  const resources = new AsyncDisposableStack();
  const scratch = resources.use(createScratch());
  const { received } = resources.use(await listen(scratch.path("s"), answer));
  const rpc = await connectRpc(scratch.path("s"), patient);
  resources.defer(() => {
    rpc.close();
  });
  return { rpc, received, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** Makes one call to a server that answers with `answer`. */
async function callOn(answer: (request: Received) => string | undefined, wait = patient) {
  await using served = await serve((request, socket) => {
    const text = answer(request);
    if (text === undefined) socket.end();
    else socket.write(text);
  });
  return await served.rpc.call("RPCServer.X", { A: 1 }, wait);
}

describe("RpcConnection.call", () => {
  it("returns the result", async () => {
    expect(await callOn((request) => replyTo(request, { B: request.params }))).toEqual({ B: { A: 1 } });
  });

  it("numbers requests from 0 and accepts only the answer with the same id", async () => {
    await using served = await serve((request, socket) => {
      // Each answer twice, and one with an unknown id.
      socket.write(replyTo({ ...request, id: 99 }, { wrong: true }));
      socket.write(replyTo(request, { id: request.id }));
      socket.write(replyTo(request, { id: request.id }));
    });
    expect(await served.rpc.call("RPCServer.X", {}, patient)).toEqual({ id: 0 });
    expect(await served.rpc.call("RPCServer.X", {}, patient)).toEqual({ id: 1 });
    expect(served.received.map(({ id }) => id)).toEqual([0, 1]);
  });

  it("accepts an answer in two chunks", async () => {
    await using served = await serve((request, socket) => {
      const text = replyTo(request, { name: "ü" });
      const bytes = Buffer.from(text);
      const cut = bytes.indexOf(0xc3) + 1; // within the letter
      socket.write(bytes.subarray(0, cut), () => setImmediate(() => socket.write(bytes.subarray(cut))));
    });
    expect(await served.rpc.call("RPCServer.X", {}, patient)).toEqual({ name: "ü" });
  });

  it("fails with code 100 and the server's message on an error", async () => {
    await expect(callOn((request) => refusalOf(request, "no such pod"))).rejects.toMatchObject({
      code: cniCode.refused,
      message: "RPC RPCServer.X failed: no such pod",
    });
  });

  it.each([
    { does: "bytes that are not JSON", answer: "\u0007\u0007\n" },
    { does: "an answer without result and error", answer: '{"id":0}\n' },
    { does: "an error that is not a string", answer: '{"id":0,"result":{},"error":{}}\n' },
    { does: "a result that is not an object", answer: '{"id":0,"result":[],"error":null}\n' },
  ])("fails with code 101 on $does", async ({ answer }) => {
    await expect(callOn(() => answer)).rejects.toMatchObject({ code: cniCode.protocol });
  });

  it.each([
    { does: "closes without an answer", answer: undefined },
    { does: "closes in the middle of an answer", answer: "close" },
  ])("fails with code 11 when the server $does", async ({ answer }) => {
    await using served = await serve((_request, socket) => {
      socket.end(answer === undefined ? "" : '{"id":0,"resu');
    });
    const failure = { code: cniCode.tryAgain, message: "zedrouter closed the connection without an answer" };
    await expect(served.rpc.call("RPCServer.X", {}, patient)).rejects.toMatchObject(failure);
    await expect(served.rpc.call("RPCServer.X", {}, patient)).rejects.toMatchObject(failure);
  });

  it("fails with code 11 when no answer comes in time", async () => {
    await expect(callOn(() => "", hasty)).rejects.toMatchObject({
      code: cniCode.tryAgain,
      message: "zedrouter did not answer RPC RPCServer.X within 30 ms",
    });
  });

  it("ends on a stop signal", async () => {
    const { signal, stop } = createStopSignal();
    await using served = await serve(stop);
    await expect(served.rpc.call("RPCServer.X", {}, { ...patient, signal })).rejects.toMatchObject({
      code: cniCode.tryAgain,
    });
  });
});

describe("connectRpc", () => {
  it("waits for a server that does not listen yet", async () => {
    using scratch = createScratch();
    await using servers = new AsyncDisposableStack();
    const dialling = connectRpc(scratch.path("s"), patient);
    servers.use(await listen(scratch.path("s"), (request, socket) => socket.write(replyTo(request, {}))));
    const rpc = await dialling;
    expect(await rpc.call("RPCServer.X", {}, patient)).toEqual({});
    rpc.close();
  });

  it("fails with code 11, the path and the reason if no server listens in time", async () => {
    using scratch = createScratch();
    await expect(connectRpc(scratch.path("s"), hasty)).rejects.toMatchObject({
      code: cniCode.tryAgain,
      message: `failed to dial zedrouter RPC socket ${scratch.path("s")}`,
      details: "ENOENT",
    });
  });

  it("waits for a server if a stale socket file exists", async () => {
    using scratch = createScratch();
    const dead = createServer();
    await new Promise<void>((resolve) => dead.listen(scratch.path("s"), resolve));
    // Node unlinks the socket on close; a killed server does not.
    const { renameSync } = await import("node:fs");
    renameSync(scratch.path("s"), scratch.path("kept"));
    await new Promise((resolve) => dead.close(resolve));
    await expect(connectRpc(scratch.path("kept"), hasty)).rejects.toMatchObject({ details: "ECONNREFUSED" });
  });

  it("does not wait for a path that cannot become a socket", async () => {
    await expect(connectRpc("/dev/null/socket", patient)).rejects.toMatchObject({ code: cniCode.io });
  });
});
