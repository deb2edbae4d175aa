// SPDX-License-Identifier: Apache-2.0
/**
 * serveFakeKernel offers a fake kernel to other processes on a Unix socket, so that a test can kill a daemon and keep its
 * kernel. As in a real kernel, the running calls of a killed daemon run to their end.
 * Usage: `await using server = await serveFakeKernel(kernel, "/tmp/x/kernel.sock")`.
 */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { HostError } from "../calls/host-error.ts";
import type { Host } from "../ports/host.ts";
import type { FakeKernel } from "./fake-kernel.ts";
import { decodeMessage, encodeMessage, isObject, type Message } from "./remote-wire.ts";

/** Disposing of the result closes all connections. */
export async function serveFakeKernel(kernel: FakeKernel, socketPath: string): Promise<AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    serve(kernel.host(), socket);
  });
  server.listen(socketPath);
  await once(server, "listening");
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function serve(host: Host, socket: Socket): void {
  const calls = new Map<number, AbortController>();

  function send(kind: Message["kind"], id: number, value: unknown): void {
    if (socket.writable) socket.write(encodeMessage({ kind, id, value }));
  }

  async function answer(id: number, call: unknown): Promise<void> {
    try {
      const result = invoke(host, call);
      if (isStream(result)) for await (const event of result) send("event", id, event);
      send("result", id, isStream(result) ? undefined : await result);
    } catch (error) {
      if (error instanceof HostError)
        send("refused", id, { operation: error.operation, code: error.code, words: error.words });
      else send("broken", id, String(error));
    } finally {
      calls.delete(id);
    }
  }

  const lines = createInterface(socket);
  lines.on("line", (line) => {
    const controller = new AbortController();
    const { kind, id, value } = decodeMessage(line, () => controller.signal);
    if (kind === "abort") calls.get(id)?.abort();
    if (kind !== "call") return;
    calls.set(id, controller);
    void answer(id, value);
  });
  const hungUp = () => {
    for (const call of calls.values()) call.abort();
  };
  socket.on("error", hungUp); // the daemon was killed
  lines.on("error", hungUp); // readline forwards errors of the socket
  socket.once("close", hungUp);
}

function invoke(host: Host, call: unknown): unknown {
  if (!isObject(call) || !Array.isArray(call["args"])) throw new Error("message is not a call");
  const port: unknown = Reflect.get(host, String(call["port"]));
  const verb: unknown = isObject(port) && Reflect.get(port, String(call["method"]));
  if (typeof verb !== "function") throw new Error(`the host has no ${String(call["port"])}.${String(call["method"])}`);
  const result: unknown = Reflect.apply(verb, port, call["args"]);
  return result;
}

function isStream(result: unknown): result is AsyncIterable<unknown> {
  return isObject(result) && Symbol.asyncIterator in result;
}
