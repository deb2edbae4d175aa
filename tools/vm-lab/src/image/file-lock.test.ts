// SPDX-License-Identifier: Apache-2.0
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { withFileLock } from "./file-lock.ts";

const noWait = () => undefined;
let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "lock-"));
});
afterEach(() => rm(directory, { recursive: true }));

describe("withFileLock", () => {
  it("runs one holder after another, and reports the wait to the second", async () => {
    const file = join(directory, "sub/lock");
    const events: string[] = [];
    const held = Promise.withResolvers<undefined>();
    const waited = Promise.withResolvers<undefined>();
    const first = withFileLock(file, noWait, async () => {
      held.resolve(undefined);
      await waited.promise;
      events.push("first ends");
    });
    await held.promise;
    await withFileLock(
      file,
      () => {
        waited.resolve(undefined);
      },
      () => Promise.resolve(events.push("second runs")),
    );
    await first;
    expect(events).toEqual(["first ends", "second runs"]);
  });

  it("releases the lock when the holder fails", async () => {
    const file = join(directory, "lock");
    await expect(withFileLock(file, noWait, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    expect(await withFileLock(file, noWait, () => Promise.resolve("mine"))).toBe("mine");
  });

  it("takes the lock after its holder was killed", async () => {
    const file = join(directory, "lock");
    const holder = spawn("flock", ["--exclusive", file, "sh", "-c", "echo held && exec cat"], { detached: true });
    await once(holder.stdout, "data");
    const { pid } = holder;
    if (pid === undefined) throw new Error("flock did not start");
    const mine = withFileLock(
      file,
      () => {
        process.kill(-pid, "SIGKILL");
      },
      () => Promise.resolve("mine"),
    );
    expect(await mine).toBe("mine");
  });

  it("rejects if the lock file cannot be created", async () => {
    const lock = withFileLock(directory + "/x/\0", noWait, () => Promise.resolve());
    await expect(lock).rejects.toThrow();
  });
});
