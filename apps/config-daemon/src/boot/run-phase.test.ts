// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { bootConfigPath, type SriovNetworkNodeStateSpec } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import { createFakeKernel, igb, pci, systemKernelClock, type FakeKernel } from "@switchyard/host/testing";
import { setTimeout as delay } from "node:timers/promises";
import { observeNode } from "../observe/observe.ts";
import { killedAtWrite } from "../testing/killed-at-write.ts";
import { digestOf, formatBootConfig } from "../boot-files/boot-config.ts";
import { bootResultPath, parseBootResult, type BootPhase } from "../boot-files/boot-result.ts";
import { runPhase, type PhaseOptions } from "./run-phase.ts";

const pf = "0000:01:00.0";
const other = "0000:01:00.1";
const spec: SriovNetworkNodeStateSpec = {
  interfaces: [
    {
      pciAddress: pf,
      name: "enp1s0f0",
      numVfs: 3,
      mtu: 9000,
      vfGroups: [
        { resourceName: "kernel", vfRange: "0-1", mtu: 9000 },
        { resourceName: "user", vfRange: "2-2", deviceType: "vfio-pci" },
      ],
    },
  ],
};

function kernelWith(config: SriovNetworkNodeStateSpec | string | undefined): FakeKernel {
  const kernel = createFakeKernel({ nics: [igb(pf)] });
  if (config === undefined) return kernel;
  kernel.writeFile(bootConfigPath, typeof config === "string" ? config : formatBootConfig({ spec: config }));
  return kernel;
}

async function run(host: Host, phase: BootPhase, overrides: Partial<PhaseOptions> = {}) {
  const lines: string[] = [];
  const sleep = (ms: number, signal: AbortSignal) =>
    delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
  const exitCode = await runPhase({
    phase,
    host,
    maxHanging: 4,
    limitMs: 60_000,
    signal: new AbortController().signal,
    timing: { stepDeadlineMs: 60_000, linkTimeoutMs: 200, udevTimeoutMs: 1_000, nowMs: systemKernelClock.nowMs, sleep },
    lock: () => Promise.resolve({ [Symbol.asyncDispose]: () => Promise.resolve() }),
    log: (line) => lines.push(line),
    ...overrides,
  });
  return { exitCode, lines };
}

async function resultOf(kernel: FakeKernel) {
  return parseBootResult((await kernel.host().files.readText(bootResultPath)) ?? "");
}

async function vfsOf(kernel: FakeKernel) {
  const { interfaces } = await observeNode(kernel.host());
  return (interfaces.find(({ pciAddress }) => pciAddress === pf)?.Vfs ?? []).map(({ driver, mtu }) => [driver, mtu]);
}

const configured = [
  ["igbvf", 9000],
  ["igbvf", 9000],
  ["vfio-pci", undefined],
];

describe("runPhase", () => {
  it("creates VFs without drivers in the first phase, and configures them in the second", async () => {
    const kernel = kernelWith(spec);
    expect(await run(kernel.host(), "pre")).toMatchObject({ exitCode: 0 });
    const none = [undefined, undefined];
    expect(await vfsOf(kernel)).toEqual([none, none, none]);
    expect(await resultOf(kernel)).toMatchObject({ syncStatus: "InProgress", lastSyncError: "" });

    expect((await run(kernel.host(), "post")).exitCode).toBe(0);
    expect(await vfsOf(kernel)).toEqual(configured);
    expect(await resultOf(kernel)).toEqual({
      syncStatus: "Succeeded",
      lastSyncError: "",
      bootID: await kernel.host().boot.readBootId(),
      configDigest: digestOf(formatBootConfig({ spec })),
    });
  });

  it("records the PFs that it configures", async () => {
    const kernel = kernelWith(spec);
    await run(kernel.host(), "pre");
    expect([...(await kernel.host().records.list()).keys()]).toEqual([pf]);
  });

  it("does everything in the second phase if the first did not run", async () => {
    const kernel = kernelWith(spec);
    expect((await run(kernel.host(), "post")).exitCode).toBe(0);
    expect(await vfsOf(kernel)).toEqual(configured);
  });

  it("changes nothing on a node that is configured", async () => {
    const kernel = kernelWith(spec);
    for (const phase of ["pre", "post"] as const) await run(kernel.host(), phase);
    const before = kernel.writes.length;
    for (const phase of ["pre", "post"] as const) await run(kernel.host(), phase);
    const files = kernel.writes.slice(before).map(({ port }) => port);
    expect(new Set(files)).toEqual(new Set(["files"])); // the results
    expect(await vfsOf(kernel)).toEqual(configured);
  });

  it("does nothing without a configuration", async () => {
    const kernel = kernelWith(undefined);
    for (const phase of ["pre", "post"] as const) expect((await run(kernel.host(), phase)).exitCode).toBe(0);
    expect(kernel.writes).toEqual([]);
  });

  it("reports a configuration that cannot be read, and changes no PF", async () => {
    const kernel = kernelWith("spec: {");
    for (const phase of ["pre", "post"] as const) {
      expect((await run(kernel.host(), phase)).exitCode).toBe(1);
      expect(await resultOf(kernel)).toMatchObject({
        syncStatus: "Failed",
        lastSyncError: expect.stringContaining(`${phase}: ${bootConfigPath}: the file is not valid YAML`),
      });
    }
    expect(await vfsOf(kernel)).toEqual([]);
  });

  it("configures the other PFs if one fails, and names the phase and the error", async () => {
    const kernel = kernelWith({
      interfaces: [...(spec.interfaces ?? []), { pciAddress: other, numVfs: 2 }],
    });
    kernel.fault({ port: "sriov", method: "setNumVfs", target: pci(other) }, { code: "EIO" });
    expect((await run(kernel.host(), "pre")).exitCode).toBe(1);
    expect(await resultOf(kernel)).toMatchObject({
      syncStatus: "Failed",
      lastSyncError: `pre: set sriov_numvfs 2 on ${other}: EIO`,
    });
    expect((await run(kernel.host(), "post")).exitCode).toBe(1);
    expect(await resultOf(kernel)).toMatchObject({ lastSyncError: `post: set sriov_numvfs 2 on ${other}: EIO` });
    expect(await vfsOf(kernel)).toEqual(configured);
  });

  it("judges an externally managed PF in the second phase, after the tool that creates its VFs has run", async () => {
    const vfGroups = [{ resourceName: "r", vfRange: "0-1" }];
    const external = { pciAddress: pf, numVfs: 2, externallyManaged: true, vfGroups };
    const kernel = kernelWith({ interfaces: [external] });
    expect((await run(kernel.host(), "pre")).exitCode).toBe(0);
    const late = await run(kernel.host(), "post");
    expect([late.exitCode, await resultOf(kernel)]).toMatchObject([
      1,
      { lastSyncError: expect.stringContaining("has 0") },
    ]);
    await kernel.setNumVfsByHand(pci(pf), 2);
    expect((await run(kernel.host(), "post")).exitCode).toBe(0);
  });

  it("repairs in the second phase what failed in the first", async () => {
    const kernel = kernelWith(spec);
    const fault = kernel.fault({ port: "sriov", method: "setNumVfs", target: pci(pf) }, { code: "EIO" });
    expect((await run(kernel.host(), "pre")).exitCode).toBe(1);
    fault.lift();
    expect((await run(kernel.host(), "post")).exitCode).toBe(0);
    expect(await resultOf(kernel)).toMatchObject({ syncStatus: "Succeeded", lastSyncError: "" });
  });

  it("ends at its time limit if the kernel does not answer", async () => {
    const kernel = kernelWith(spec);
    kernel.fault({ port: "sriov", method: "setNumVfs", target: pci(pf) }, { until: new Promise(() => undefined) });
    expect((await run(kernel.host(), "pre", { limitMs: 300 })).exitCode).toBe(1);
    expect(await resultOf(kernel)).toMatchObject({
      syncStatus: "Failed",
      lastSyncError: "pre: not finished after 0.3 s",
    });
  });

  it("reports that another process holds the lock of the node", async () => {
    const kernel = kernelWith(spec);
    const { exitCode } = await run(kernel.host(), "pre", { lock: () => Promise.reject(new Error("is locked")) });
    expect([exitCode, await resultOf(kernel)]).toMatchObject([1, { lastSyncError: "pre: is locked" }]);
    expect(await vfsOf(kernel)).toEqual([]);
  });

  it("configures the node although the result cannot be written", async () => {
    const kernel = kernelWith(spec);
    kernel.fault({ port: "files", method: "writeText", target: bootResultPath }, { code: "EROFS" });
    for (const phase of ["pre", "post"] as const)
      expect(await run(kernel.host(), phase)).toMatchObject({ exitCode: 0 });
    expect(await vfsOf(kernel)).toEqual(configured);
  });

  it("leaves VFs with their driver that existed before the first phase", async () => {
    const kernel = kernelWith(spec);
    for (const phase of ["pre", "post", "pre"] as const) await run(kernel.host(), phase);
    expect(await vfsOf(kernel)).toEqual(configured);
  });

  it("converges in the next boot or phase after a SIGKILL before and after each write", async () => {
    for (const isDone of [false, true]) {
      for (let nth = 1; ; nth++) {
        const kernel = kernelWith(spec);
        const killed = killedAtWrite(kernel.host(), nth, isDone);
        const both = async () => {
          for (const phase of ["pre", "post"] as const) await run(killed.host, phase);
          return "survived";
        };
        const end = await Promise.race([both(), killed.death]);
        if (end === "survived") break;
        for (const phase of ["pre", "post"] as const) await run(kernel.host(), phase);
        expect([nth, isDone, await vfsOf(kernel)]).toEqual([nth, isDone, configured]);
        expect(await resultOf(kernel)).toMatchObject({ syncStatus: "Succeeded" });
      }
    }
  }, 60_000);
});
