// SPDX-License-Identifier: Apache-2.0
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { cniCode } from "../request/cni-error.ts";
import { acquireLock, removeStaleLocks, tryLock } from "./owner-lock.ts";
import { createStopSignal } from "../process/stop-signal.ts";
import { createScratch } from "../testing/scratch.ts";

const source = JSON.stringify(join(__dirname, "owner-lock.ts"));

/** Runs `code` in a new process that can use the locks; resolves when the process has printed something. */
async function start(code: string): Promise<ChildProcess> {
  const text = `import { acquireLock, tryLock } from ${source};\n${code}`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", text], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}

/** A process that holds the lock until it is killed. */
function holder(dir: string): Promise<ChildProcess> {
  return start(
    `tryLock({ dir: ${JSON.stringify(dir)}, name: "a:b" }); console.log("held"); setInterval(() => {}, 1000);`,
  );
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "exit");
}

describe("tryLock", () => {
  it("gives the lock to one owner at a time", () => {
    using scratch = createScratch();
    const name = { dir: scratch.path("locks"), name: "a:b" };
    const first = tryLock(name);
    expect(tryLock(name)).toBeUndefined();
    expect(tryLock({ ...name, name: "a:c" })).toBeDefined();
    first?.release();
    expect(tryLock(name)).toBeDefined();
  });

  it("leaves no files when the lock is released", () => {
    using scratch = createScratch();
    tryLock({ dir: scratch.dir, name: "a:b" })?.release();
    expect(readdirSync(scratch.dir)).toEqual([]);
  });

  it("takes the lock from a killed process, but not from a running one", async () => {
    using scratch = createScratch();
    const owner = await holder(scratch.dir);
    expect(tryLock({ dir: scratch.dir, name: "a:b" })).toBeUndefined();
    await kill(owner);
    expect(tryLock({ dir: scratch.dir, name: "a:b" })).toBeDefined();
  });

  it("takes the lock if a new process has the owner's process id", () => {
    using scratch = createScratch();
    mkdirSync(scratch.path("a:b"));
    writeFileSync(scratch.path("a:b", `${process.pid}-1-1`), "");
    expect(tryLock({ dir: scratch.dir, name: "a:b" })).toBeDefined();
  });

  it("removes the directory of a process that was killed before the rename", () => {
    using scratch = createScratch();
    mkdirSync(scratch.path("a:b::1-1-1"));
    mkdirSync(scratch.path("a:c::1-1-1"));
    tryLock({ dir: scratch.dir, name: "a:b" })?.release();
    expect(readdirSync(scratch.dir)).toEqual(["a:c::1-1-1"]);
  });
});

describe("acquireLock", () => {
  it("waits until the owner releases the lock", async () => {
    using scratch = createScratch();
    const name = { dir: scratch.dir, name: "a:b" };
    const first = tryLock(name);
    const second = acquireLock(name, { timeoutMs: 20_000 });
    first?.release();
    (await second).release();
    expect(readdirSync(scratch.dir)).toEqual([]);
  });

  it("fails with code 11 on a timeout", async () => {
    using scratch = createScratch();
    const name = { dir: scratch.dir, name: "a:b" };
    tryLock(name);
    await expect(acquireLock(name, { timeoutMs: 20 })).rejects.toMatchObject({ code: cniCode.tryAgain });
  });

  it("stops waiting on a stop signal", async () => {
    using scratch = createScratch();
    const name = { dir: scratch.dir, name: "a:b" };
    const { signal, stop } = createStopSignal();
    tryLock(name);
    stop();
    await expect(acquireLock(name, { timeoutMs: 20_000, signal })).rejects.toMatchObject({
      message: "stopped by a signal",
    });
  });

  it("never gives the lock to two processes at once, even if owners are killed", async () => {
    using scratch = createScratch();
    const inside = scratch.path("inside");
    const overlap = scratch.path("overlap");
    const code = `
      import { appendFileSync, existsSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
      const isAlive = (pid) => {
        try {
          return !/\\) [ZX] /.test(readFileSync("/proc/" + pid + "/stat", "utf8")); // dead ones wait to be reaped
        } catch {
          return false;
        }
      };
      const [inside, overlap] = ${JSON.stringify([inside, overlap])};
      for (let i = 0; i < 40; i++) {
        const lock = await acquireLock({ dir: ${JSON.stringify(scratch.path("locks"))}, name: "a:b" }, { timeoutMs: 60_000 });
        // A process that is killed while it holds the lock leaves its id: only the id of a running process is an overlap.
        const other = existsSync(inside) ? readFileSync(inside, "utf8") : "";
        if (other !== "" && isAlive(other)) appendFileSync(overlap, process.pid + " met " + other);
        writeFileSync(inside, String(process.pid));
        if (process.argv[1] === "die" && i === 20) process.kill(process.pid, "SIGKILL");
        await new Promise((resolve) => setImmediate(resolve));
        unlinkSync(inside);
        lock.release();
      }`;
    const text = `import { acquireLock } from ${source};\n${code}`;
    const children = ["", "die", "die", ""].map((fate) =>
      spawn(process.execPath, ["--input-type=module", "-e", text, fate], { stdio: ["ignore", "ignore", "inherit"] }),
    );
    const ends = await Promise.all(
      children.map(async (child) => (await once(child, "exit")) as [number | null, string | null]),
    );
    expect(ends.map(([status, signal]) => status ?? signal).sort()).toEqual([0, 0, "SIGKILL", "SIGKILL"]);
    expect(existsSync(overlap) ? readFileSync(overlap, "utf8") : "").toBe("");
  }, 60_000);
});

describe("removeStaleLocks", () => {
  it("removes the locks of dead processes only", async () => {
    using scratch = createScratch();
    const owner = await holder(scratch.dir);
    tryLock({ dir: scratch.dir, name: "mine:x" });
    mkdirSync(scratch.path("a:c::1-1-1"));
    mkdirSync(scratch.path("a:d"));
    writeFileSync(scratch.path("a:d", "1-1-1"), "");
    removeStaleLocks(scratch.dir);
    expect(readdirSync(scratch.dir).sort()).toEqual(["a:b", "mine:x"]);
    await kill(owner);
    removeStaleLocks(scratch.dir);
    expect(readdirSync(scratch.dir)).toEqual(["mine:x"]);
  });

  it("does nothing if the directory does not exist", () => {
    expect(() => {
      removeStaleLocks("/nowhere/locks");
    }).not.toThrow();
  });
});
