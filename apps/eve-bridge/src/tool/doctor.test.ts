// SPDX-License-Identifier: Apache-2.0
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { writeRecord } from "../state/attachment-record.ts";
import { daemonOf } from "../delegates/dhcp-lease.ts";
import { formatReport, runDoctor, type DoctorReport } from "./doctor.ts";
import { renewLeases } from "./renew.ts";
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

  it("is not healthy while the DHCP daemon does not renew a lease, which renew repairs", async () => {
    using node = createNode();
    await using servers = new AsyncDisposableStack();
    servers.use(await listen(node.path("rpc"), () => undefined));
    const first = await listen(node.path("dhcp"), () => undefined);
    const settings = { dhcpSocket: node.path("dhcp") };
    const base = { network: "ni", args: "MAC=02:16:3e:00:00:01", conf: { name: "ni" }, step: "connected" } as const;
    const pod = { ...base, containerId: "0af", ifName: "net1", netns: "/proc/self/ns/net" };
    writeRecord(node.path("state"), { ...pod, lease: true, mac: "02:16:3e:00:00:01", daemon: daemonOf(settings) });
    writeRecord(node.path("state"), { ...pod, containerId: "0b0", lease: false });
    writeRecord(node.path("state"), { ...pod, containerId: "0c0", netns: "/nowhere", lease: true });
    const finding = async () => (await examine(node)).findings.find(({ check }) => check === "leases");
    expect(await finding()).toMatchObject({ state: "ok", found: "1 recorded" });

    await first[Symbol.asyncDispose]();
    servers.use(await listen(node.path("dhcp"), () => undefined));
    const report = await examine(node);
    expect([report.healthy, await finding()]).toMatchObject([
      false,
      {
        state: "failing",
        found: "1 of 1 is from before the start of the DHCP daemon, which does not renew it",
        advice: "run `eve-bridge renew`, or start these pods again: 0af net1",
      },
    ]);
    expect(formatReport(report)).toContain("connected pods lose their network");

    const env = { ...process.env, CNI_PATH: node.path("bin"), EVE_BRIDGE_CONFIG: node.path("settings.json") };
    const asked = node.path("asked");
    const ask = (script: string) => {
      writeFileSync(node.path("bin", "dhcp"), `#!/bin/sh\n(echo $CNI_COMMAND; cat) > ${asked}\n${script}\n`);
    };
    ask(`echo '{"code":999,"msg":"no more tries"}'; exit 1`);
    expect(await renewLeases({ env })).toEqual([
      { containerId: "0af", ifName: "net1", error: "dhcp plugin failed to CHECK net1: no more tries" },
    ]);
    expect(await finding()).toMatchObject({ state: "failing" });
    ask("");
    expect(await renewLeases({ env })).toEqual([{ containerId: "0af", ifName: "net1" }]);
    const [command, conf = "{}"] = readFileSync(asked, "utf8").split("\n");
    expect(await finding()).toMatchObject({ state: "ok" });
    expect([command, JSON.parse(conf)]).toMatchObject([
      "CHECK",
      { cniVersion: "1.0.0", name: "ni", ipam: { provide: [{ value: "\u0000eve-mac-02163e000001" }] } },
    ]);
    expect(await renewLeases({ env })).toEqual([]);
  });

  it("reports what decides about the default route", async () => {
    using node = createNode();
    const found = async () => (await examine(node)).findings.find(({ check }) => check === "default route")?.found;
    expect(await found()).toContain("set by the pod's namespace");
    mkdirSync(node.path("markers"));
    expect(await found()).toContain("set by zedkube's markers");
  });
});
