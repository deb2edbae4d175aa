// SPDX-License-Identifier: Apache-2.0
/**
 * One daemon a node: a lock that the kernel releases when its holder dies in whatever way, since it is an abstract Unix
 * socket (unix(7)). It holds within the network namespace, which all daemons of a node share (hostNetwork).
 * Usage: `await using lock = await acquireNodeLock("switchyard/config-daemon", { signal, onWaiting })`.
 */
import { once } from "node:events";
import { createConnection, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { isErrno } from "./host-error.ts";

export interface NodeLockOptions {
  /** Gives up waiting: rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Called once, when another process is seen to hold the lock. */
  readonly onWaiting: () => void;
}

/** Between two tries where the holder takes no connection: it is just starting or dying. */
const retryMs = 100;

/** Resolves with the lock once it is ours; disposing of it releases it. Holding it does not keep the process alive. */
export async function acquireNodeLock(name: string, options: NodeLockOptions): Promise<AsyncDisposable> {
  const { signal, onWaiting } = options;
  const path = `\0${name}`; // abstract: no file is left behind
  for (let tries = 0; ; tries++) {
    signal.throwIfAborted();
    const lock = await tryToListen(path);
    if (lock !== undefined) return lock;
    if (tries === 0) onWaiting();
    if (!(await untilHungUp(path, signal))) await delay(retryMs, undefined, { signal });
  }
}

/** undefined when somebody listens already. */
async function tryToListen(path: string): Promise<AsyncDisposable | undefined> {
  const waiters = new Set<Socket>();
  const server = createServer((waiter) => {
    waiter.unref();
    waiters.add(waiter);
    waiter.on("error", () => undefined); // it was killed; "close" follows
    waiter.once("close", () => waiters.delete(waiter));
  });
  try {
    server.listen(path);
    await once(server, "listening");
  } catch (error) {
    if (isErrno(error) && error.code === "EADDRINUSE") return undefined;
    throw error;
  }
  server.unref();
  return {
    async [Symbol.asyncDispose]() {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      for (const waiter of waiters) waiter.destroy();
      await closed;
    },
  };
}

/** Waits for the end of whoever listens; false when it could not be reached. Rejects when `signal` aborts. */
async function untilHungUp(path: string, signal: AbortSignal): Promise<boolean> {
  const holder = createConnection({ path, signal });
  let connected = false;
  holder.once("connect", () => {
    connected = true;
    holder.resume(); // else its end would not be seen
  });
  holder.on("error", () => undefined); // refused, reset, or aborted; "close" follows
  await new Promise<void>((resolve) => {
    holder.once("close", () => {
      resolve();
    });
  });
  signal.throwIfAborted();
  return connected;
}
