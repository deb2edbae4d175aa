// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";

/** The program, run from its sources. */
function run(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(__dirname, "../main.ts"), ...args], {
    env: { PATH: process.env["PATH"], ...env },
    input: "{}",
  });
  return { status, stdout: stdout.toString(), stderr: stderr.toString() };
}

describe("eve-bridge", () => {
  it("says what it is on stderr when a person starts it", () => {
    expect(run([])).toMatchObject({ status: 0, stdout: "" });
    expect(run([]).stderr).toMatch(
      /^CNI plugin eve-bridge v\d.*\nCNI protocol versions supported: 0\.1\.0,.* 1\.1\.0\n$/,
    );
  });

  it("prints its version and its help", () => {
    expect(run(["--version"]).stdout).toMatch(/^eve-bridge \d+\.\d+\.\d+\n$/);
    expect(run(["--help"]).stdout).toContain("eve-bridge doctor");
  });

  it.each([
    [["frobnicate"], "unknown command frobnicate"],
    [["doctor", "-o", "xml"], "-o takes text or json"],
    [["doctor", "--frobnicate"], "--frobnicate"],
    [["install"], "--to is missing"],
    [["install", "--to", "/x", "--grace-seconds", "soon"], "--grace-seconds takes a number"],
  ])("ends with 64 and one line on wrong usage: %j", (args, says) => {
    const { status, stderr } = run(args);
    expect(status).toBe(64);
    expect(stderr).toContain(says);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  it("fails with 1 and one line when it cannot install", () => {
    const { status, stdout, stderr } = run(["install", "--to", "/x"]);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^eve-bridge install: only the bundle eve-bridge\.cjs can be installed .*\n$/);
  });

  it("reports in JSON", () => {
    const { status, stdout } = run(["doctor", "-o", "json"], { CNI_PATH: "/nowhere" });
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ healthy: false });
  });

  it("is a plugin as soon as CNI_COMMAND is set, whatever the arguments", () => {
    expect(run(["--help"], { CNI_COMMAND: "VERSION" })).toMatchObject({ status: 0 });
    const { status, stdout } = run([], { CNI_COMMAND: "NONSENSE" });
    expect([status, JSON.parse(stdout)]).toEqual([
      1,
      { cniVersion: "1.1.0", code: 4, msg: "unknown CNI_COMMAND: NONSENSE" },
    ]);
  });
});
