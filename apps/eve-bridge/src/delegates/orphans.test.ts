// SPDX-License-Identifier: Apache-2.0
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "@jest/globals";
import { delegateMark, killOrphans } from "./orphans.ts";

/** A marked program with a child. */
async function startMarked(containerId: string) {
  const env = { ...process.env, ...delegateMark({ containerId, ifName: "net1" }) };
  const child = spawn("/bin/sh", ["-c", "sleep 1000 & echo up; wait"], { env, stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return child;
}

describe("killOrphans", () => {
  it("kills the plugins of one interface with their children, and no others", async () => {
    const containerId = `test-${process.pid}`;
    const [mine, other] = await Promise.all([startMarked(containerId), startMarked(`${containerId}-other`)]);
    const ended = once(mine, "exit");
    expect(await killOrphans({ containerId, ifName: "net1" }, { timeoutMs: 20_000 })).toBe(2);
    await ended;
    expect([mine.signalCode, other.exitCode, other.signalCode]).toEqual(["SIGKILL", null, null]);
    expect(await killOrphans({ containerId: `${containerId}-other`, ifName: "net1" }, { timeoutMs: 20_000 })).toBe(2);
  });

  it("returns 0 if no plugin is running", async () => {
    expect(await killOrphans({ containerId: `test-${process.pid}-none`, ifName: "net1" }, { timeoutMs: 100 })).toBe(0);
  });
});
