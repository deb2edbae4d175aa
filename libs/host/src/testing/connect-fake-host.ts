// SPDX-License-Identifier: Apache-2.0
/**
 * connectFakeHost returns a Host that uses a fake kernel in another process (serve-fake-kernel.ts). It keeps the process alive
 * only while a call or a watch is running.
 * Usage: `const host = connectFakeHost("/tmp/x/kernel.sock")`.
 */
import { createConnection } from "node:net";
import { createInterface } from "node:readline";
import { operations } from "../calls/operations.ts";
import { HostError } from "../calls/host-error.ts";
import type { Host } from "../ports/host.ts";
import type { KernelEvent } from "../ports/kernel.ts";
import type { OvsEvent } from "../ports/ovs.ts";
import { createFakeEvents } from "./fake-events.ts";
import { decodeMessage, encodeMessage, isObject, type Message } from "./remote-wire.ts";

/** If the process of the kernel ends, calls fail and watches end. */
export function connectFakeHost(socketPath: string): Host & Disposable {
  const { send, close } = openConnection(socketPath);

  function call(port: string, method: string, args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const done = send(
        { port, method, args },
        {
          answered({ kind, value }) {
            done();
            if (kind === "result") resolve(value);
            else reject(errorOf(kind, value));
          },
          failed(reason) {
            done();
            reject(reason instanceof Error ? reason : new Error(String(reason)));
          },
        },
      );
    });
  }

  function watch<Event>(
    port: string,
    isEvent: (value: unknown) => value is Event,
    signal: AbortSignal,
  ): AsyncIterable<Event> {
    const events = createFakeEvents<Event>();
    const end = new AbortController();
    const done = send(
      { port, method: "watch", args: [signal] },
      {
        answered({ kind, value }) {
          if (kind !== "event") stop();
          else if (isEvent(value)) events.emit(value);
        },
        failed: stop,
      },
    );
    function stop(): void {
      done();
      end.abort();
    }
    return events.port.watch(end.signal);
  }

  const ports: Record<string, Record<string, (...args: unknown[]) => unknown>> = {};
  for (const [port, methods] of Object.entries(operations)) {
    ports[port] = {};
    for (const method of Object.keys(methods)) ports[port][method] = (...args) => call(port, method, args);
  }
  const host: unknown = {
    ...ports,
    ovs: { ...ports["ovs"], watch: (signal: AbortSignal) => watch("ovs", isOvsEvent, signal) },
    events: { watch: (signal: AbortSignal) => watch("events", isKernelEvent, signal) },
  };
  if (!isHost(host)) throw new Error("operations.ts lacks a port");
  return { ...host, [Symbol.dispose]: close };
}

interface Connection {
  /** Sends a call. Its answers go to `call` until the returned function is called. */
  readonly send: (value: unknown, call: Pending) => () => void;
  readonly close: () => void;
}

/** Keeps the process alive only while calls are pending. */
function openConnection(socketPath: string): Connection {
  const socket = createConnection(socketPath);
  const pending = new Map<number, Pending>();
  let gone: Error | undefined;
  let nextId = 1;

  socket.unref();
  socket.on("error", hungUp);
  socket.once("close", () => {
    hungUp(new Error("the fake kernel closed the connection"));
  });
  const lines = createInterface(socket);
  lines.on("error", hungUp); // errors of the socket
  lines.on("line", (line) => {
    const answer = decodeMessage(line, () => new AbortController().signal);
    pending.get(answer.id)?.answered(answer);
  });

  function hungUp(error: Error): void {
    gone ??= error;
    for (const { failed } of pending.values()) failed(gone);
  }

  return {
    send(value, call) {
      const id = nextId++;
      const over = new AbortController();
      const message = encodeMessage({ kind: "call", id, value }, (signal) => {
        const abort = () => {
          socket.write(encodeMessage({ kind: "abort", id, value: undefined }));
          call.failed(signal.reason);
        };
        if (signal.aborted) queueMicrotask(abort);
        else signal.addEventListener("abort", abort, { once: true, signal: over.signal });
      });
      pending.set(id, call);
      socket.ref();
      socket.write(message);
      if (gone !== undefined)
        queueMicrotask(() => {
          call.failed(gone);
        });
      return () => {
        over.abort();
        pending.delete(id);
        if (pending.size === 0) socket.unref();
      };
    },
    close: () => {
      socket.destroy();
    },
  };
}

interface Pending {
  readonly answered: (answer: Message) => void;
  /** The process of the kernel ended, or the caller aborted. */
  readonly failed: (reason: unknown) => void;
}

function errorOf(kind: Message["kind"], value: unknown): Error {
  if (kind !== "refused" || !isObject(value) || !isObject(value["operation"])) return new Error(String(value));
  const { operation, code, words } = value;
  const { action, target } = operation;
  return new HostError({ action: String(action), target: String(target) }, String(code), {
    words: typeof words === "string" ? words : undefined,
  });
}

/** Reports whether all methods of all ports exist. Their results are those of the Host in the other process. */
function isHost(value: unknown): value is Host {
  if (!isObject(value)) return false;
  return Object.entries(operations).every(([name, methods]) => {
    const port = value[name];
    return isObject(port) && Object.keys(methods).every((method) => typeof port[method] === "function");
  });
}

function isOvsEvent(value: unknown): value is OvsEvent {
  return isObject(value) && value["kind"] === "changed";
}

function isKernelEvent(value: unknown): value is KernelEvent {
  return isObject(value) && ["link", "pci", "rdma", "overrun"].some((kind) => value["kind"] === kind);
}
