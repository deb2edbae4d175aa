// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, lstat, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { acquireNodeLock, type NodeLockOptions } from "./node-lock.ts";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "switchyard-lock-"));
});

afterEach(() => rm(root, { recursive: true }));

function acquire(options: Partial<NodeLockOptions> = {}): Promise<AsyncDisposable> {
  return acquireNodeLock(root, {
    holder: { pod: "daemon-x" },
    now: () => new Date("2026-11-20T12:00:00Z"),
    signal: new AbortController().signal,
    onWaiting(why) {
      throw new Error(why);
    },
    ...options,
  });
}

/** Returns the first reason of the wait. */
async function whyWaiting(): Promise<string> {
  const stop = new AbortController();
  let first = "";
  const onWaiting = (why: string): void => {
    first ||= why;
    stop.abort(new Error("seen"));
  };
  await expect(acquire({ signal: stop.signal, onWaiting })).rejects.toThrow("seen");
  return first;
}

describe("acquireNodeLock", () => {
  it("has one holder at a time, and reports the holder and the time to the processes that wait", async () => {
    const order: string[] = [];
    const first = await acquire();
    const others = Array.from({ length: 2 }, async () => {
      const lock = await acquire({ onWaiting: (why) => order.push(why) });
      order.push("has");
      await lock[Symbol.asyncDispose]();
    });
    while (order.length < 2) await new Promise(setImmediate);
    await first[Symbol.asyncDispose]();
    await Promise.all(others);
    const why =
      `/run/switchyard/config-daemon.lock is held by process ${process.pid} (pod daemon-x) ` +
      "since 2026-11-20T12:00:00.000Z";
    expect(order.slice(0, 2)).toEqual([why, why]);
    expect(order.filter((each) => each === "has")).toHaveLength(2);
  });

  it("is released by the kernel when its holder is killed", async () => {
    const module = join(__dirname, "node-lock.ts");
    const program = `
      import { acquireNodeLock } from ${JSON.stringify(module)};
      const { signal } = new AbortController();
      globalThis.lock = await acquireNodeLock("${root}", { holder: {}, now: () => new Date(), signal, onWaiting() {} });
      console.log("mine");
      setInterval(() => undefined, 60_000);
    `;
    const holder = spawn(process.execPath, ["--input-type=module", "--eval", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(createInterface(holder.stdout), "line");
    let why = "";
    const lock = await acquire({
      onWaiting: (text) => {
        why ||= text;
        holder.kill("SIGKILL");
      },
    });
    expect(why).toContain(`held by process ${holder.pid ?? 0} since `);
    await lock[Symbol.asyncDispose]();
  });

  it("stops waiting when the signal aborts", async () => {
    await using lock = await acquire();
    expect(await whyWaiting()).toContain("is held by process");
    expect(lock).toBeDefined();
  });

  it("cannot be taken by a process that is not root, as an abstract socket could", async () => {
    const server = createServer().listen("\0switchyard/config-daemon/worker-1");
    await once(server, "listening");
    await using lock = await acquire();
    expect(lock).toBeDefined();
    server.close();
    const modes = await Promise.all(
      ["run/switchyard", "run/switchyard/config-daemon.lock"].map(async (path) => (await lstat(join(root, path))).mode),
    );
    expect(modes.map((mode) => (mode & 0o777).toString(8))).toEqual(["700", "600"]);
  });

  it.each<{ does: string; prepare: (directory: string, file: string) => Promise<unknown>; why: string }>([
    {
      does: "a link in the place of the file",
      prepare: async (directory, file) => {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        await symlink("/dev/null", file);
      },
      why: "ELOOP",
    },
    {
      does: "a link in the place of the directory",
      prepare: async (directory) => {
        await mkdir(join(directory, ".."), { recursive: true });
        await symlink("/tmp", directory);
      },
      why: "/run/switchyard is not a directory",
    },
    {
      does: "a directory that others can write to",
      prepare: async (directory) => {
        await mkdir(directory, { recursive: true });
        await chmod(directory, 0o777);
      },
      why: "/run/switchyard has mode 777, which gives access to other users",
    },
    {
      does: "a file that others can read and lock",
      prepare: async (directory, file) => {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        await writeFile(file, "");
        await chmod(file, 0o644);
      },
      why: "config-daemon.lock has mode 644",
    },
    {
      does: "a file in the place of the directory",
      prepare: async (directory) => {
        await mkdir(join(directory, ".."), { recursive: true });
        await writeFile(directory, "");
      },
      why: "/run/switchyard is not a directory",
    },
  ])("refuses $does, says so, and takes the lock once that is gone", async ({ prepare, why }) => {
    const directory = join(root, "run/switchyard");
    await prepare(directory, join(directory, "config-daemon.lock"));
    const reasons: string[] = [];
    const waiting = acquire({ onWaiting: (text) => reasons.push(text) });
    while (reasons.length === 0) await new Promise(setImmediate);
    expect(reasons[0]).toMatch(/^take the lock on this node: E[A-Z]+ \(/);
    expect(reasons[0]).toContain(why);
    await rm(directory, { recursive: true });
    const lock = await waiting;
    await lock[Symbol.asyncDispose]();
  });

  const asRoot = process.geteuid?.() === 0 ? it : it.skip;
  asRoot("refuses what belongs to another user", async () => {
    const directory = join(root, "run/switchyard");
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await chown(directory, 65_534, 65_534);
    expect(await whyWaiting()).toContain("/run/switchyard belongs to user 65534 instead of user 0");
  });

  it("ignores an empty or too long description of the holder", async () => {
    await using lock = await acquire();
    await writeFile(
      join(root, "run/switchyard/config-daemon.lock"),
      JSON.stringify({ pid: "x", pod: "a\nb", since: {} }),
    );
    expect(await whyWaiting()).toBe("/run/switchyard/config-daemon.lock is held by another process");
    expect(lock).toBeDefined();
  });
});
