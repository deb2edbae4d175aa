// SPDX-License-Identifier: Apache-2.0
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { writeRecord } from "../state/attachment-record.ts";
import { formatReport, runDoctor, type DoctorReport } from "./doctor.ts";
import { listen } from "../testing/rpc-server.ts";
import { createScratch, type Scratch } from "../testing/scratch.ts";

function createNode(): Scratch {
  const scratch = createScratch();
  mkdirSync(scratch.path("bin"));
  for (const plugin of ["eve-bridge", "bridge", "host-local", "dhcp"]) {
    const answer = `echo '{"cniVersion":"1.0.0","supportedVersions":["0.3.1","1.0.0"]}'`;
    writeFileSync(scratch.path("bin", plugin), `#!/bin/sh\n${answer}\n`);
    chmodSync(scratch.path("bin", plugin), 0o755);
  }
  const settings = {
    rpcSocket: scratch.path("rpc"),
    dhcpSocket: scratch.path("dhcp"),
    markerDir: scratch.path("markers"),
    stateDir: scratch.path("state"),
    logFile: scratch.path("log", "log"),
  };
  writeFileSync(scratch.path("settings.json"), JSON.stringify(settings));
  return scratch;
}

function examine(node: Scratch): Promise<DoctorReport> {
  return runDoctor({
    env: { ...process.env, CNI_PATH: node.path("bin"), EVE_BRIDGE_CONFIG: node.path("settings.json") },
  });
}

const stateOf = (report: DoctorReport, check: string) =>
  report.findings.find((finding) => finding.check === check)?.state;

describe("runDoctor", () => {
  it("reports a complete node as healthy", async () => {
    using node = createNode();
    await using servers = new AsyncDisposableStack();
    for (const socket of ["rpc", "dhcp"]) servers.use(await listen(node.path(socket), () => undefined));
    const report = await examine(node);
    expect(report.findings.filter(({ state }) => state === "missing")).toEqual([]);
    expect(report.healthy).toBe(true);
    expect(formatReport(report)).toContain("Pods can be connected.");
  });

  it("reports what is missing and what to do", async () => {
    using node = createNode();
    writeFileSync(node.path("bin", "dhcp"), `#!/bin/sh\necho '{"supportedVersions":["0.1.0"]}'\n`);
    chmodSync(node.path("bin", "bridge"), 0o644);
    const report = await examine(node);
    const missing = report.findings.filter(({ state }) => state === "missing");
    expect(missing.map(({ check }) => check)).toEqual(["plugin bridge", "plugin dhcp", "zedrouter", "DHCP daemon"]);
    expect(missing.every(({ found, advice }) => found !== "" && advice !== "")).toBe(true);
    expect(report.healthy).toBe(false);
  });

  it("reports invalid settings and runs the other checks", async () => {
    using node = createNode();
    writeFileSync(node.path("settings.json"), "{");
    const report = await examine(node);
    expect(stateOf(report, "settings")).toBe("missing");
    expect(stateOf(report, "plugin bridge")).toBe("ok");
  });

  it("warns about interfaces whose pods no longer exist", async () => {
    using node = createNode();
    const base = { network: "ni", args: "", conf: {}, step: "connected", lease: false } as const;
    writeRecord(node.path("state"), { ...base, containerId: "0af", ifName: "net1", netns: "/nowhere" });
    writeRecord(node.path("state"), { ...base, containerId: "0b0", ifName: "net1", netns: "/proc/self/ns/net" });
    const finding = (await examine(node)).findings.find(({ check }) => check === "interfaces");
    expect(finding).toMatchObject({ state: "warning", found: "1 of 2 belong to pods that no longer exist" });
    expect(finding?.advice).toContain("0af net1");
  });

  it("reports what decides about the default route", async () => {
    using node = createNode();
    const found = async () => (await examine(node)).findings.find(({ check }) => check === "default route")?.found;
    expect(await found()).toContain("set by the pod's namespace");
    mkdirSync(node.path("markers"));
    expect(await found()).toContain("set by zedkube's markers");
  });
});
