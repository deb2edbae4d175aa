// SPDX-License-Identifier: Apache-2.0
/**
 * A server on a Unix socket whose answers a test writes by hand, byte for byte; for the real thing see e2e/eve-bridge.
 * Usage: `await using server = await listen(path, (request, socket) => socket.write(replyTo(request, {})))`.
 */
import { createServer, type Socket } from "node:net";
import { isArray, isObject, parseJson, type JsonObject, type JsonValue } from "../request/json.ts";

/** One request as it came. */
export interface Received {
  readonly method: string;
  readonly params: JsonObject;
  readonly id: JsonValue;
}

/** A server that listens until it is disposed of. */
export interface RpcServer extends AsyncDisposable {
  /** All requests so far, in order. */
  readonly received: readonly Received[];
}

/** Calls `answer` for each line that comes. */
export async function listen(path: string, answer: (request: Received, socket: Socket) => void): Promise<RpcServer> {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    let text = "";
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (chunk) => {
      text += chunk.toString();
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) {
        const request = parseRequest(line);
        received.push(request);
        answer(request, socket);
      }
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  return {
    received,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      // Calls back with an error when it is closed already, which is as good.
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A line that answers `request`. */
export function replyTo({ id }: Received, result: JsonObject): string {
  return `${JSON.stringify({ id, result, error: null })}\n`;
}

/** A line that refuses `request`. */
export function refusalOf({ id }: Received, error: string): string {
  return `${JSON.stringify({ id, result: null, error })}\n`;
}

function parseRequest(line: string): Received {
  const value = parseJson(line);
  if (!isObject(value) || typeof value["method"] !== "string") throw new Error(`no request: ${line}`);
  const params = isArray(value["params"]) ? value["params"][0] : undefined;
  return { method: value["method"], params: isObject(params) ? params : {}, id: value["id"] ?? null };
}
