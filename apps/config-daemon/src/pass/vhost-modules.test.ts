// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeStateSpec } from "@switchyard/api";
import {
  createFakeKernel,
  createManualClock,
  igb,
  systemKernelClock,
  type KernelClock,
} from "@switchyard/host/testing";
import { createVhostModules } from "./vhost-modules.ts";

const plain = { resourceName: "a", vfRange: "0-0" };
const needing: SriovNetworkNodeStateSpec = {
  interfaces: [
    { pciAddress: "0000:01:00.0", vfGroups: [plain] },
    { pciAddress: "0000:01:00.1", vfGroups: [plain, { ...plain, needVhostNet: true }] },
  ],
};

function setUp(clock: KernelClock = systemKernelClock) {
  const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")], clock });
  const timing = {
    stepDeadlineMs: 120_000,
    linkTimeoutMs: 200,
    udevTimeoutMs: 1_000,
    nowMs: () => clock.nowMs(),
    sleep: (ms: number, signal: AbortSignal) => clock.sleep(ms, signal),
  };
  const now = () => new Date("2026-11-20T12:00:00Z");
  const loads = () => kernel.writes.filter(({ method }) => method === "load").map(({ args }) => args[0]);
  return { kernel, loads, load: createVhostModules(kernel.host(), { timing, now }) };
}

describe("modules for needVhostNet", () => {
  it("are reported if modprobe hangs, and block nothing else", async () => {
    const clock = createManualClock();
    const { kernel, load } = setUp(clock);
    kernel.fault({ port: "modules", method: "load" }, { until: new Promise(() => undefined) });
    const loading = load(needing);
    await clock.advance(125_000);
    expect(await loading).toEqual([
      "load kernel module on tun: no answer from the kernel for 2 min, since 2026-11-20T12:00:00Z",
    ]);
  });

  it("are loaded once if a VF needs them", async () => {
    const { load, loads } = setUp();
    expect(await load({ interfaces: [{ pciAddress: "0000:01:00.0", vfGroups: [plain] }] })).toEqual([]);
    expect(await load({})).toEqual([]);
    expect(loads()).toEqual([]);
    expect([await load(needing), await load(needing)]).toEqual([[], []]);
    expect(loads()).toEqual(["tun", "vhost_net"]);
  });

  it("are loaded on a node that gives VFs to ResourceClaims, and so is vfio-pci, once and without an error", async () => {
    const { kernel, load, loads } = setUp();
    kernel.fault({ port: "modules", target: "tun" }, { code: "MODPROBE_FAILED", words: "FATAL" });
    const desired = { allocation: "dra", interfaces: [] } as const;
    expect([await load(desired), await load(desired)]).toEqual([[], []]);
    expect(loads()).toEqual(["vfio-pci", "tun", "vhost_net"]);
  });

  it("are missing as long as the host does not have them", async () => {
    const { kernel, load, loads } = setUp();
    const fault = kernel.fault({ port: "modules", target: "vhost_net" }, { code: "MODPROBE_FAILED", words: "FATAL" });
    expect(await load(needing)).toEqual([
      "/dev/vhost-net is missing: load kernel module on vhost_net: MODPROBE_FAILED (FATAL)",
    ]);
    fault.lift();
    expect(await load(needing)).toEqual([]);
    expect(loads()).toEqual(["tun", "vhost_net", "vhost_net"]);
  });

  it("are not needed if the device exists", async () => {
    const { kernel, load } = setUp();
    kernel.fault({ port: "modules", target: "tun" }, { code: "MODPROBE_FAILED" });
    kernel.writeFile("/dev/net/tun", "");
    expect(await load(needing)).toEqual([]);
  });
});
