// SPDX-License-Identifier: Apache-2.0
/**
 * What an evaluator starts on a Mac needs nothing that macOS lacks: `switchyard` without a cluster, and the programs of `npm run demo`
 * up to their help, which loads all their modules. `npm run e2e -- macos` runs the demo itself.
 */
import { describe, expect, it } from "@jest/globals";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const root = join(__dirname, "../../..");
const preload = join(__dirname, "testing/like-macos.mjs");

async function onMac(...args: readonly string[]): Promise<string> {
  const node = ["--disable-warning=ExperimentalWarning", "--import", preload];
  return (await promisify(execFile)(process.execPath, [...node, ...args], { cwd: root })).stdout;
}

const nodes = ["-f", "examples/cluster", "-f", "examples/dpdk-vfio"];

describe("on macOS", () => {
  it.each([
    [["validate", "-f", "examples/dpdk-vfio", "--existing", "examples/cluster"], /, 0 rejected\.\n$/],
    [["plan", ...nodes, "--node", "worker-1"], /set sriov_numvfs 0 -> 8/],
    [["render", ...nodes], /kind: SriovNetworkNodeState/],
  ])("switchyard works: %j", async (args, expected) => {
    expect(await onMac("apps/cli/src/main.ts", ...args)).toMatch(expected);
  });

  it("the programs of the demo load", async () => {
    const services = ["operator", "webhook", "device-plugin-config"].map((app) => `apps/${app}/src/main.ts`);
    const programs = ["tools/demo/src/main.ts", "apps/config-daemon/src/testing/fake-node.ts", ...services];
    const helps = await Promise.all(programs.map((program) => onMac(program, "--help")));
    expect(helps.filter((help) => !/^ +--/m.test(help))).toEqual([]);
  });

  it.each([
    ["/proc", "fs.readFileSync('/proc/uptime')", /ENOENT/],
    ["long paths of sockets", "net.createServer().listen('/tmp/' + 'x'.repeat(99))", /EINVAL/],
    ["programs of Linux", "child_process.spawnSync('unshare', ['true'])", /ENOENT/],
  ])("there are no %s", async (_what, code, error) => {
    await expect(onMac("-e", code)).rejects.toThrow(error);
  });
});
