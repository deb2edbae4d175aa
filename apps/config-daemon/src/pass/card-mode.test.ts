// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, SriovNetworkNodeState } from "@switchyard/api";
import {
  blueField,
  createFakeKernel,
  igb,
  pci,
  type FakeKernel,
  type FakeKernelOptions,
} from "@switchyard/host/testing";
import { phaseConditions } from "../report/phase-conditions.ts";
import { daemonOn, type DaemonTestOptions } from "../testing/daemon-on.ts";

const first = "0000:3b:00.0";
const second = "0000:3b:00.1";
const other = "0000:01:00.0";
const separated = { INTERNAL_CPU_MODEL: 0 };
const nicMode = {
  INTERNAL_CPU_PAGE_SUPPLIER: 1,
  INTERNAL_CPU_ESWITCH_MANAGER: 1,
  INTERNAL_CPU_IB_VPORT0: 1,
  INTERNAL_CPU_OFFLOAD_ENGINE: 1,
};

function kernelWith(options: Partial<FakeKernelOptions> = {}): FakeKernel {
  return createFakeKernel({ nics: [blueField(first), igb(other)], ...options });
}

function state(overrides: Partial<InterfaceSpec> = {}): SriovNetworkNodeState {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1", generation: 1 },
    spec: {
      interfaces: [
        { pciAddress: first, numVfs: 2, cardMode: "embedded-cpu", ...overrides },
        { pciAddress: other, numVfs: 2 },
      ],
    },
  };
}

/** What the daemon reported in the end. */
function seen(daemon: ReturnType<typeof daemonOn>) {
  const pf = (address: string) => daemon.shown().find(({ pciAddress }) => pciAddress === address);
  const conditions = daemon.phases.slice(-1).flatMap((phase) => phaseConditions(phase, []));
  const reason = conditions.find(({ type }) => type === "Degraded")?.reason;
  return { mode: pf(first)?.cardMode, second: pf(second)?.cardMode, vfs: pf(other)?.numVfs, reason };
}

function changes(kernel: FakeKernel): readonly string[] {
  const writes = kernel.writes.filter(({ port, code }) => port === "firmware" && code === undefined);
  return writes.map(({ method }) => method);
}

async function passes(kernel: FakeKernel, options?: DaemonTestOptions) {
  const daemon = daemonOn(kernel.host(), options);
  const result = await daemon.pass(state());
  await daemon.pass(state());
  return { daemon, result };
}

describe("the mode of a SmartNIC", () => {
  it("is reported for each port of a card that a policy selects, and is right as delivered", async () => {
    const kernel = kernelWith();
    const { daemon, result } = await passes(kernel);
    const embedded = { current: "embedded-cpu", next: "embedded-cpu" };
    expect([result, seen(daemon)]).toEqual([
      "settled",
      { mode: embedded, second: embedded, vfs: 2, reason: "Configured" },
    ]);
    expect(changes(kernel)).toEqual([]);
  });

  it("is not read for other cards, nor without a policy", async () => {
    const kernel = kernelWith();
    const reads = kernel.fault({ port: "firmware" }, {});
    const daemon = daemonOn(kernel.host());
    await daemon.pass({ ...state(), spec: {} });
    expect([reads.hits, seen(daemon).mode]).toEqual([0, undefined]);
  });

  it("is read once, as long as nothing changes", async () => {
    const kernel = kernelWith();
    const reads = kernel.fault({ port: "firmware", method: "readSettings" }, {});
    const levels = kernel.fault({ port: "firmware", method: "readPrivilege" }, {});
    await passes(kernel);
    expect([reads.hits, levels.hits]).toEqual([2, 2]); // two ports
  });

  it("is restricted if the host may not change the card", async () => {
    const kernel = kernelWith();
    kernel.setHostPrivilegeByHand(pci(first), "restricted");
    const { daemon } = await passes(kernel);
    expect(seen(daemon)).toMatchObject({ mode: { current: "restricted", next: "restricted" }, reason: "Configured" });
  });

  it("is embedded-cpu with a remark if mstprivhost fails", async () => {
    const kernel = kernelWith();
    kernel.fault({ port: "firmware", method: "readPrivilege" }, { code: "FIRMWARE_TOOL_FAILED", words: "-E- Unknown" });
    const { daemon } = await passes(kernel);
    expect(seen(daemon)).toMatchObject({
      mode: { current: "embedded-cpu", privilegeUnknown: expect.stringContaining("FIRMWARE_TOOL_FAILED") },
      reason: "Configured",
    });
  });

  it.each([
    { from: "separated-host", by: separated },
    { from: "nic", by: nicMode },
  ])("is changed once from $from, and waits for a power cycle while other PFs are configured", async ({ from, by }) => {
    const kernel = kernelWith();
    kernel.setFirmwareByHand(pci(first), by);
    const { daemon } = await passes(kernel);
    const mode = { current: from, next: "embedded-cpu", powerCycleRequired: true };
    expect(seen(daemon)).toMatchObject({ mode, vfs: 2, reason: "PowerCycleRequired" });
    expect(daemon.error()).toContain("when the host is switched off and on again, a reboot is not enough");
    const made = changes(kernel).length;

    kernel.reboot(); // by somebody else: it changes nothing
    const { daemon: second } = await passes(kernel);
    expect([seen(second).reason, changes(kernel).length, kernel.requestedReboots]).toEqual([
      "PowerCycleRequired",
      made,
      [],
    ]);

    kernel.powerCycle();
    const { daemon: third } = await passes(kernel);
    expect(seen(third)).toMatchObject({
      mode: { current: "embedded-cpu", next: "embedded-cpu" },
      reason: "Configured",
    });
    expect([third.error(), changes(kernel).length]).toEqual(["", made]);
  });

  it.each([
    { what: "mstconfig is missing", options: { firmwareTools: false }, words: "mstconfig is not installed" },
    { what: "the kernel is locked down", options: { lockdown: "integrity" }, words: "lockdown mode integrity" },
  ] as const)("is a problem if $what, and other PFs are configured", async ({ options, words }) => {
    const { daemon } = await passes(kernelWith(options));
    expect(seen(daemon)).toMatchObject({ mode: { current: "unknown" }, vfs: 2, reason: "NotPossible" });
    expect(daemon.error()).toContain(words);
  });

  it("is left alone while the plugin mellanox is disabled", async () => {
    const kernel = kernelWith();
    kernel.setFirmwareByHand(pci(first), separated);
    const { daemon } = await passes(kernel, { firmwarePolicy: { isDisabled: true, isResetAllowed: false } });
    expect(seen(daemon)).toMatchObject({ mode: { current: "unknown" }, vfs: 2, reason: "NotPossible" });
    expect(daemon.error()).toContain('SriovOperatorConfig.spec.disablePlugins contains "mellanox"');
    expect(changes(kernel)).toEqual([]);
  });

  it("that the card refuses to change is a failed step, and other PFs are configured", async () => {
    const kernel = kernelWith();
    kernel.setFirmwareByHand(pci(first), separated);
    kernel.setHostPrivilegeByHand(pci(first), "restricted");
    const { daemon, result } = await passes(kernel);
    expect([result, seen(daemon)]).toMatchObject(["retry", { vfs: 2, reason: "StepFailed" }]);
    expect(daemon.error()).toContain("Operation is not permitted");
  });
});
