// SPDX-License-Identifier: Apache-2.0
/**
 * * A client of JSON-RPC 1.0 over AF_UNIX, as Go's net/rpc/jsonrpc serves it (eve-and-afxdp.md a5). A request is
 * `{"method","params":[one],"id"}`, an answer `{"id","result","error"}`.
 */
import { connect, type Socket } from "node:net";
import { CniError, cniCode, errnoOf } from "../request/cni-error.ts";
import { deadlineIn, leftMs, nowMs, sleep, type Wait } from "../process/deadline.ts";
import { isObject, type JsonObject, type JsonValue } from "../request/json.ts";
import { createFrameReader } from "./rpc-frames.ts";
import { stoppedError, throwIfStopped } from "../process/stop-signal.ts";

/** A connection. Only one call may run at a time. */
export interface RpcConnection {
  /**
   * Throws code 100 when the server returns an error, 101 when its answer is invalid, 11 when no answer comes. After 101 and
   * 11 it is unknown whether the server has carried out the request.
   */
  call(method: string, params: JsonObject, wait: Wait): Promise<JsonObject>;
  close(): void;
}

/** Errors while the server is starting or its backlog is full. */
const transient = new Set(["ENOENT", "ECONNREFUSED", "EAGAIN"]);
const redialPauseMs = 50;
const maxAnswerBytes = 1024 * 1024;

/** Connects, and retries while no process listens. Throws code 11 on a timeout, 5 for errors that do not pass. */
export async function connectRpc(path: string, { timeoutMs, signal }: Wait): Promise<RpcConnection> {
  const deadline = deadlineIn(timeoutMs);
  for (;;) {
    throwIfStopped(signal);
    try {
      return createConnection(await connectOnce(path, leftMs(deadline, timeoutMs)));
    } catch (cause) {
      const errno = errnoOf(cause);
      if (errno === undefined) throw cause;
      const unreachable = (code: number) =>
        new CniError(code, `failed to dial zedrouter RPC socket ${path}`, { details: errno, cause });
      if (!transient.has(errno)) throw unreachable(cniCode.io);
      if (nowMs() + redialPauseMs >= deadline.endMs) throw unreachable(cniCode.tryAgain);
      await sleep(redialPauseMs);
    }
  }
}

/** Encodes a request as one line, as Go's client does. */
export function encodeRequest(method: string, params: JsonObject, id: number): string {
  return `${JSON.stringify({ method, params: [params], id })}\n`;
}

/** The result in an answer. Throws code 100 for an error of the server, 101 for an invalid answer. */
export function decodeReply(method: string, reply: JsonObject): JsonObject {
  const { result, error } = reply;
  if (typeof error === "string") throw new CniError(cniCode.refused, `RPC ${method} failed: ${error}`);
  if (error !== null && error !== undefined) throw badAnswer(method, reply);
  if (!isObject(result)) throw badAnswer(method, reply);
  return result;
}

function connectOnce(path: string, timeoutMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    const timer = setTimeout(() => {
      socket.destroy(new CniError(cniCode.tryAgain, `no connection to ${path} within ${timeoutMs} ms`));
    }, timeoutMs);
    socket.once("connect", () => {
      clearTimeout(timer);
      socket.removeAllListeners("error");
      resolve(socket);
    });
    socket.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}

function createConnection(socket: Socket): RpcConnection {
  const frames = createFrameReader(maxAnswerBytes);
  let nextId = 0;
  let broken: CniError | undefined;
  let waiting: { id: number; resolve: (reply: JsonObject) => void; reject: (error: CniError) => void } | undefined;

  const breakOff = (error: CniError) => {
    broken ??= error;
    waiting?.reject(broken);
    socket.destroy();
  };
  socket.on("error", (cause) => {
    breakOff(new CniError(cniCode.tryAgain, "the connection to zedrouter failed", { cause, details: cause.message }));
  });
  socket.on("close", () => {
    breakOff(new CniError(cniCode.tryAgain, "zedrouter closed the connection without an answer"));
  });
  socket.on("data", (chunk: Buffer) => {
    try {
      for (const reply of frames.push(chunk)) receive(reply);
    } catch (error) {
      if (!(error instanceof CniError)) throw error;
      breakOff(error);
    }
  });

  /** Ignores answers with another id, which belong to calls that have ended. */
  function receive(reply: JsonValue): void {
    if (isObject(reply) && reply["id"] === waiting?.id) waiting?.resolve(reply);
  }

  return {
    async call(method, params, { timeoutMs, signal }) {
      throwIfStopped(signal);
      if (broken !== undefined) throw broken;
      const id = nextId++;
      const reply = await new Promise<JsonObject>((resolve, reject) => {
        const timer = setTimeout(() => {
          finish(
            reject,
            new CniError(cniCode.tryAgain, `zedrouter did not answer RPC ${method} within ${timeoutMs} ms`),
          );
        }, timeoutMs);
        const stop = () => {
          finish(reject, stoppedError());
        };
        const finish = <T>(settle: (value: T) => void, value: T) => {
          clearTimeout(timer);
          forget?.();
          waiting = undefined;
          settle(value);
        };
        const forget = signal?.onStop(stop);
        waiting = {
          id,
          resolve: (answer) => {
            finish(resolve, answer);
          },
          reject: (error) => {
            finish(reject, error);
          },
        };
        socket.write(encodeRequest(method, params, id));
      });
      return decodeReply(method, reply);
    },
    close() {
      broken ??= new CniError(cniCode.internal, "the connection is closed");
      socket.destroy();
    },
  };
}

function badAnswer(method: string, reply: JsonObject): CniError {
  const details = JSON.stringify(reply).slice(0, 200);
  return new CniError(cniCode.protocol, `zedrouter's answer to RPC ${method} has neither result nor error`, {
    details,
  });
}
