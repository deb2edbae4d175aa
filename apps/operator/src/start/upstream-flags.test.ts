// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { commonFlags, parseFlags } from "@switchyard/service";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { operatorFlags } from "./operator-flags.ts";
import { fromUpstreamFlags } from "./upstream-flags.ts";

const off = "off";
const everywhere = (port: number) => ({ host: "", port });

function addresses(...argv: readonly string[]): unknown {
  const flags = { ...commonFlags, ...operatorFlags };
  const parsed = parseFlags(flags, fromUpstreamFlags(argv).argv, { NAMESPACE: "sriov-network-operator" });
  if (parsed.kind !== "run") return parsed.kind === "invalid" ? parsed.problem.message : parsed.kind;
  return [parsed.values.metricsAddress, parsed.values.healthAddress];
}

describe("fromUpstreamFlags", () => {
  it.each([
    { argv: ["--metrics-bind-address=:8080"], means: [everywhere(8080), off] },
    { argv: ["--metrics-bind-address", "0", "--health-probe-bind-address", ":8081"], means: [off, everywhere(8081)] },
    { argv: ["-metrics-bind-address=127.0.0.1:1"], means: [{ host: "127.0.0.1", port: 1 }, off] },
    { argv: ["--metrics-bind-address=", "--health-probe-bind-address="], means: [everywhere(8080), off] },
    { argv: ["--leader-elect", "--metrics-address=:1", "--health-address=:2"], means: [everywhere(1), everywhere(2)] },
  ])("translates $argv", ({ argv, means }) => {
    expect(addresses(...argv)).toEqual(means);
  });

  it("keeps all other arguments, unknown flags and values that look like flags included", () => {
    expect(addresses("--metrics-bind-adress=0")).toBe("unknown flag --metrics-bind-adress; --help lists all flags");
    const argv = ["--webhook-secret=a=--metrics-bind-address", "--zap=1", "--namespace", "zap-devel"];
    expect(fromUpstreamFlags(argv)).toEqual({ argv, ignored: [] });
  });

  it("drops flags of upstream's logger with their values, and lists them", () => {
    const zap = ["--zap-log-level", "debug", "-zap-encoder=json", "--zap-devel", "--zap-time-encoding=iso8601"];
    expect(fromUpstreamFlags([...zap, "--metrics-bind-address=0", "--zap-stacktrace-level"])).toEqual({
      argv: ["--metrics-address=0"],
      ignored: [
        ...["--zap-log-level", "--zap-encoder", "--zap-devel", "--zap-time-encoding", "--zap-stacktrace-level"],
      ],
    });
  });

  it("makes the process warn of dropped flags", () => {
    const argv = [join(__dirname, "../main.ts"), "--namespace=sriov", "--kubeconfig=/nowhere", "--zap-log-level=debug"];
    const { status, stderr } = spawnSync(process.execPath, argv, { encoding: "utf8" });
    expect(status).toBe(1); // the kubeconfig does not exist
    expect(stderr).toContain('"flags":["--zap-log-level"]');
  });

  it("makes the process accept upstream's flags", () => {
    const argv = [join(__dirname, "../main.ts"), "--namespace=sriov", "--health-probe-bind-address=nowhere"];
    const { status, stderr } = spawnSync(process.execPath, argv, { encoding: "utf8" });
    expect([status, stderr]).toEqual([
      64,
      'operator: invalid value "nowhere" for flag --health-address: expected host:port, or 0 to disable\n',
    ]);
  });
});
