// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "@jest/globals";

const cache = mkdtempSync(join(tmpdir(), "cli-"));
afterAll(() => {
  rmSync(cache, { recursive: true });
});

/** Runs the command line with an empty cache and no programs on its PATH. */
function vm(...args: string[]): { code: number | null; stdout: string; stderr: string } {
  const env = { PATH: "/nonexistent", XDG_CACHE_HOME: cache };
  const { status, stdout, stderr } = spawnSync(process.execPath, ["src/main.ts", ...args], { env, encoding: "utf8" });
  return { code: status, stdout, stderr };
}

describe("npm run vm", () => {
  it.each([
    { why: "no verb", args: [] },
    { why: "an unknown verb", args: ["fly"] },
    { why: "an unknown option", args: ["run", "--fast", "job.sh"] },
    { why: "a driver that is none", args: ["shell", "--driver", "ixgbe"] },
    { why: "a kernel that is none", args: ["shell", "--kernel", "5.10"] },
    { why: "a driver that the kernel does not have", args: ["build", "--kernel", "backports", "--driver", "igbsw"] },
    { why: "a time limit that is no number", args: ["run", "--time-limit", "soon", "job.sh"] },
    { why: "a number of virtio VFs that is none", args: ["build", "--virtio-vfs", "all"] },
    { why: "run without a file", args: ["run", "--udev"] },
    { why: "a file that is not there", args: ["run", "no-such-job.sh"] },
    { why: "a file outside of the share", args: ["run", "--share", "src", "package.json"] },
    { why: "words that a verb does not take", args: ["status", "please"] },
  ])("refuses $why with exit code 64", ({ args }) => {
    const { code, stdout, stderr } = vm(...args);
    expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
    expect(stderr).toMatch(/^vm-lab: ./);
  });

  it("passes options after the file to the job", () => {
    expect(vm("run", "no-such-job.sh", "--fly", "--driver").stderr).toContain("cannot read no-such-job.sh");
  });

  it("shows the missing parts and the commands to build them", () => {
    const { code, stdout } = vm("status");
    expect(code).toBe(1);
    expect(stdout).toMatch(/QEMU .* is not installed; run "npm run vm -- deps" as root/);
    expect(stdout).toMatch(/image .* not built for this checkout .*; run: npm run vm -- build/);
    expect(stdout).toContain(join(cache, "switchyard/vm-lab"));
  });

  it("prints its usage", () => {
    const { code, stdout } = vm("--help");
    expect(code).toBe(0);
    expect(stdout).toContain("Exit codes");
  });
});
