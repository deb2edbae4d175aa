// SPDX-License-Identifier: Apache-2.0
/**
 * RpcServer is a server on a Unix socket whose answers a test writes byte by byte. e2e/eve-bridge has a full fake
 * zedrouter.
 */
import { createServer, type Socket } from "node:net";
import { isArray, isObject, parseJson, type JsonObject, type JsonValue } from "../request/json.ts";

/** One received request. */
export interface Received {
  readonly method: string;
  readonly params: JsonObject;
  readonly id: JsonValue;
}

/** A server that listens until it is disposed. */
export interface RpcServer extends AsyncDisposable {
  /** All requests received so far, in order. */
  readonly received: readonly Received[];
}

/** Starts a server that calls `answer` for each line it receives. */
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
      // The callback may get an error because the server is already closed; ignore it.
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A line that answers `request` with a result. */
export function replyTo({ id }: Received, result: JsonObject): string {
  return `${JSON.stringify({ id, result, error: null })}\n`;
}

/** A line that answers `request` with an error. */
export function refusalOf({ id }: Received, error: string): string {
  return `${JSON.stringify({ id, result: null, error })}\n`;
}

function parseRequest(line: string): Received {
  const value = parseJson(line);
  if (!isObject(value) || typeof value["method"] !== "string") throw new Error(`not a request: ${line}`);
  const params = isArray(value["params"]) ? value["params"][0] : undefined;
  return { method: value["method"], params: isObject(params) ? params : {}, id: value["id"] ?? null };
}
