// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";

/** Runs the program from its sources. */
function run(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(__dirname, "../main.ts"), ...args], {
    env: { PATH: process.env["PATH"], ...env },
    input: "{}",
  });
  return { status, stdout: stdout.toString(), stderr: stderr.toString() };
}

describe("eve-bridge", () => {
  it("prints its name and version on stderr if it is started without arguments", () => {
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
    [["frobnicate"], 'unknown command "frobnicate"'],
    [["doctor", "-o", "xml"], '-o must be text or json, not "xml"'],
    [["doctor", "--frobnicate"], "--frobnicate"],
    [["install"], "--to is required"],
    [
      ["install", "--to", "/x", "--grace-seconds", "soon"],
      '--grace-seconds must be a whole number from 0 to 9999, not "soon"',
    ],
  ])("exits with 64 and one line on wrong usage: %j", (args, says) => {
    const { status, stderr } = run(args);
    expect(status).toBe(64);
    expect(stderr).toContain(says);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  it("exits with 1 and one line if install fails", () => {
    const { status, stdout, stderr } = run(["install", "--to", "/x"]);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^eve-bridge install: only the bundle eve-bridge\.cjs can be installed .*\n$/);
  });

  it("prints the report as JSON", () => {
    const { status, stdout } = run(["doctor", "-o", "json"], { CNI_PATH: "/nowhere" });
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ healthy: false });
  });

  it("acts as a plugin if CNI_COMMAND is set, and ignores its arguments", () => {
    expect(run(["--help"], { CNI_COMMAND: "VERSION" })).toMatchObject({ status: 0 });
    const { status, stdout } = run([], { CNI_COMMAND: "NONSENSE" });
    expect([status, JSON.parse(stdout)]).toEqual([
      1,
      { cniVersion: "1.1.0", code: 4, msg: "unknown CNI_COMMAND: NONSENSE" },
    ]);
  });
});
