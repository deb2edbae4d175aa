// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { acquireNodeLock } from "./node-lock.ts";

const { signal } = new AbortController();
const never = () => {
  throw new Error("nobody else should have the lock");
};

describe("acquireNodeLock", () => {
  it("is had by one at a time, in their turn", async () => {
    const name = `test/${randomUUID()}`;
    const order: string[] = [];
    const first = await acquireNodeLock(name, { signal, onWaiting: never });
    const others = Array.from({ length: 2 }, async () => {
      const lock = await acquireNodeLock(name, { signal, onWaiting: () => order.push("waits") });
      order.push("has");
      await lock[Symbol.asyncDispose]();
    });
    const other = await acquireNodeLock(`${name}-2`, { signal, onWaiting: never });
    await other[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
    await Promise.all(others);
    expect(order.toSorted()).toEqual(["has", "has", "waits", "waits"]);
  });

  it("is released by the kernel when its holder is killed", async () => {
    const name = `test/${randomUUID()}`;
    const module = join(__dirname, "node-lock.ts");
    const program = `
      import { acquireNodeLock } from ${JSON.stringify(module)};
      await acquireNodeLock("${name}", { signal: new AbortController().signal, onWaiting() {} });
      console.log("mine");
      setInterval(() => undefined, 60_000);
    `;
    const holder = spawn(process.execPath, ["--input-type=module", "--eval", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(createInterface(holder.stdout), "line");
    const lock = await acquireNodeLock(name, {
      signal,
      onWaiting: () => {
        holder.kill("SIGKILL");
      },
    });
    expect(holder.killed).toBe(true);
    await lock[Symbol.asyncDispose]();
  });

  it("gives up waiting when it is told to", async () => {
    const name = `test/${randomUUID()}`;
    await using lock = await acquireNodeLock(name, { signal, onWaiting: never });
    const stop = new AbortController();
    const waiting = acquireNodeLock(name, {
      signal: stop.signal,
      onWaiting: () => {
        stop.abort(new Error("shutting down"));
      },
    });
    await expect(waiting).rejects.toThrow("shutting down");
    expect(lock).toBeDefined();
  });
});
