// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, SriovNetworkNodeState } from "@switchyard/api";
import { createFakeKernel, mlx5, pci, type FakeKernel, type FakeKernelOptions } from "@switchyard/host/testing";
import { setTimeout as delay } from "node:timers/promises";
import { daemonOn, type DaemonTestOptions } from "../testing/daemon-on.ts";
import { killedAtWrite } from "../testing/killed-at-write.ts";

const first = "0000:3b:00.0";
const second = "0000:3b:00.1";

function kernelWith(options: Partial<FakeKernelOptions> = {}): FakeKernel {
  return createFakeKernel({ nics: [mlx5(first), mlx5("0000:5e:00.0")], ...options });
}

function state(
  interfaces: readonly Partial<InterfaceSpec>[],
  unselected: readonly string[] = [],
): SriovNetworkNodeState {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1", generation: 1 },
    spec: { interfaces: interfaces.map((spec) => ({ pciAddress: first, ...spec })), unselected },
  };
}

const many = state([{ numVfs: 32 }]);

async function settingsOf(kernel: FakeKernel, pf = first) {
  const settings = await kernel.host().firmware.readSettings(pci(pf));
  return Object.fromEntries([...settings].map(([name, { current, next }]) => [name, [current, next]]));
}

/** The calls that changed something, without their arguments. */
function callsOf(kernel: FakeKernel): readonly string[] {
  return kernel.writes.map(({ port, method }) => `${port}.${method}`);
}

function firmwareWrites(kernel: FakeKernel): readonly string[] {
  return callsOf(kernel).filter((call) => call.startsWith("firmware."));
}

function statusOf(daemon: ReturnType<typeof daemonOn>, pf = first) {
  return daemon.shown().find(({ pciAddress }) => pciAddress === pf);
}

describe("the firmware of a Mellanox card", () => {
  it("is changed and the card is reset, before more VFs than it allowed are created", async () => {
    const kernel = kernelWith();
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(many)).toBe("settled");
    expect(daemon.error()).toBe("");
    expect(await settingsOf(kernel)).toMatchObject({ NUM_OF_VFS: [32, 32] });
    expect(statusOf(daemon)).toMatchObject({
      numVfs: 32,
      totalvfs: 32,
      owned: true,
      firmware: { numVfs: { current: 32, next: 32 }, initial: { numVfs: 16 }, resetAllowed: true },
    });
    expect(firmwareWrites(kernel)).toEqual(["firmware.setValues", "firmware.resetCard"]);
  });

  it("is read again only after it was changed", async () => {
    const kernel = kernelWith();
    const reads = kernel.fault({ port: "firmware", method: "readSettings" }, {});
    const daemon = daemonOn(kernel.host());
    const few = state([{ numVfs: 2 }]);
    for (let nth = 0; nth < 3; nth++) expect(await daemon.pass(few)).toBe("settled");
    expect(reads.hits).toBe(1);
    expect(firmwareWrites(kernel)).toEqual([]);
  });

  it("is not read while no policy selects a port of the card", async () => {
    const kernel = kernelWith();
    const reads = kernel.fault({ port: "firmware", method: "readSettings" }, {});
    const daemon = daemonOn(kernel.host());
    await daemon.pass(state([]));
    expect(reads.hits).toBe(0);
    expect(statusOf(daemon)).not.toHaveProperty("firmware");
  });

  it("is read again when the card appears again", async () => {
    const kernel = kernelWith();
    const reads = kernel.fault({ port: "firmware", method: "readSettings" }, {});
    const daemon = daemonOn(kernel.host());
    await daemon.pass(state([{ numVfs: 2 }]));
    kernel.unplug(pci(first));
    kernel.unplug(pci(second));
    kernel.plug(mlx5(first));
    await daemon.pass(state([{ numVfs: 2 }]));
    expect(reads.hits).toBe(2);
  });

  it("is only reset if it was changed by hand before", async () => {
    const kernel = kernelWith();
    await kernel.host().firmware.setValues(pci(first), { NUM_OF_VFS: 64 });
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(many)).toBe("settled");
    expect(firmwareWrites(kernel)).toEqual(["firmware.setValues", "firmware.resetCard"]); // the first one is ours
    expect(await settingsOf(kernel)).toMatchObject({ NUM_OF_VFS: [64, 64] });
    expect(statusOf(daemon)?.firmware).not.toHaveProperty("initial");
  });

  it("changes the link type of a port", async () => {
    const kernel = kernelWith();
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(state([{ pciAddress: second, numVfs: 0, linkType: "IB" }]))).toBe("settled");
    expect(daemon.error()).toBe("");
    expect(await settingsOf(kernel)).toMatchObject({ LINK_TYPE_P1: [2, 2], LINK_TYPE_P2: [1, 1] });
    expect(statusOf(daemon, second)?.linkType).toBe("IB");
  });

  it("gets its earlier values back when no policy selects it any longer, without another reset", async () => {
    const kernel = kernelWith();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(many);
    expect(await daemon.pass(state([], [first]))).toBe("settled");
    expect(daemon.error()).toBe("");
    expect(await settingsOf(kernel)).toMatchObject({ NUM_OF_VFS: [32, 16] });
    expect(firmwareWrites(kernel).filter((call) => call === "firmware.resetCard")).toHaveLength(1);
    expect(statusOf(daemon)).not.toHaveProperty("owned");
  });

  it("keeps values that somebody changed after the daemon", async () => {
    const kernel = kernelWith();
    const daemon = daemonOn(kernel.host());
    await daemon.pass(many);
    kernel.setFirmwareByHand(pci(first), { NUM_OF_VFS: 100 });
    expect(await daemonOn(kernel.host()).pass(state([], [first]))).toBe("settled");
    expect(await settingsOf(kernel)).toMatchObject({ NUM_OF_VFS: [100, 100] });
  });

  it("does not keep other cards from being configured when it cannot be changed", async () => {
    const kernel = kernelWith();
    kernel.fault(
      { port: "firmware", method: "setValues" },
      { code: "FIRMWARE_TOOL_FAILED", words: "mstconfig: -E- no" },
    );
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(state([{ numVfs: 32 }, { pciAddress: "0000:5e:00.0", numVfs: 4 }]))).toBe("retry");
    expect(daemon.error()).toBe(
      "set firmware settings NUM_OF_VFS=32 on 0000:3b:00.0: FIRMWARE_TOOL_FAILED (mstconfig: -E- no)",
    );
    expect(statusOf(daemon, "0000:5e:00.0")?.numVfs).toBe(4);
    expect(firmwareWrites(kernel)).toEqual(["firmware.setValues"]);
  });

  it.each([
    {
      does: "mstconfig is missing",
      options: { firmwareTools: false },
      reason: "read firmware settings on 0000:3b:00.0: ENOENT (mstconfig is not installed)",
    },
    {
      does: "the kernel is in lockdown mode",
      options: { lockdown: "confidentiality" as const },
      reason: "the kernel is in lockdown mode confidentiality, which denies access to the firmware",
    },
  ])("is reported when $does, but only if it must be changed", async ({ options, reason }) => {
    const kernel = kernelWith(options);
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(state([{ numVfs: 4 }]))).toBe("settled");
    expect(daemon.error()).toBe("");
    expect(await daemon.pass(many)).toBe("settled");
    expect(daemon.error()).toBe(
      "spec.interfaces[0].numVfs: 32 VFs requested, but 0000:3b:00.0 supports at most 16, " +
        `and its firmware settings cannot be changed: ${reason}`,
    );
    expect(statusOf(daemon)).toMatchObject({ numVfs: 4, firmware: { unavailable: reason } });
  });

  it("is not read or changed if disablePlugins contains mellanox, and that is reported only if a change is needed", async () => {
    const kernel = kernelWith();
    const reads = kernel.fault({ port: "firmware" }, {});
    const daemon = daemonOn(kernel.host(), { firmwarePolicy: { isDisabled: true, isResetAllowed: true } });
    expect(await daemon.pass(state([{ numVfs: 4 }]))).toBe("settled");
    expect(daemon.error()).toBe("");
    expect(await daemon.pass(many)).toBe("settled");
    expect(daemon.error()).toContain('SriovOperatorConfig.spec.disablePlugins contains "mellanox"');
    expect(reads.hits).toBe(0);
  });

  it.each([
    { mode: "DPU mode", settings: { INTERNAL_CPU_MODEL: 1, INTERNAL_CPU_OFFLOAD_ENGINE: 0 }, error: "is in DPU mode" },
    { mode: "an unknown mode", settings: { INTERNAL_CPU_MODEL: 1 }, error: "mode of this BlueField card is unknown" },
    { mode: "NIC mode", settings: { INTERNAL_CPU_MODEL: 1, INTERNAL_CPU_OFFLOAD_ENGINE: 1 }, error: "" },
    { mode: "separated host mode", settings: { INTERNAL_CPU_MODEL: 0 }, error: "" },
  ])("of a BlueField in $mode", async ({ settings, error }) => {
    const kernel = kernelWith();
    kernel.setFirmwareByHand(pci(first), settings);
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(many)).toBe("settled");
    if (error === "") expect(daemon.error()).toBe("");
    else expect(daemon.error()).toContain(error);
    expect(firmwareWrites(kernel)).toHaveLength(error === "" ? 2 : 0);
  });

  it("does not delay a pass for more than a few seconds while mstconfig hangs, and is used when it answers", async () => {
    const kernel = kernelWith();
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const fault = kernel.fault({ port: "firmware", method: "readSettings" }, { until: promise });
    const daemon = daemonOn(kernel.host());
    expect(await daemon.pass(many)).toBe("settled");
    expect(daemon.error()).toContain("mstconfig has not answered yet");
    expect(await daemon.pass(many)).toBe("settled");
    expect(fault.hits).toBe(1);
    fault.lift();
    resolve(undefined);
    expect(await daemon.pass(many)).toBe("settled");
    expect(daemon.error()).toBe("");
    expect(statusOf(daemon)?.numVfs).toBe(32);
  }, 20_000);

  it("drains before it is changed", async () => {
    const kernel = kernelWith();
    const daemon = daemonOn(kernel.host(), { drains: true });
    expect(await daemon.pass(many)).toBe("waiting");
    expect(daemon.requests).toEqual(["Drain_Required"]);
    expect(kernel.writes).toEqual([]);
  });

  describe("that must not be reset", () => {
    const firmwarePolicy = { isDisabled: false, isResetAllowed: false };
    const rebootFile = "/etc/sriov-operator/reboot.json";

    /** Runs a pass until the daemon requests a reboot. */
    async function passUntilReboot(kernel: FakeKernel, options: DaemonTestOptions = { firmwarePolicy }): Promise<void> {
      const stopped = new AbortController();
      const passing = daemonOn(kernel.host(), options)
        .pass(many, stopped.signal)
        .catch(() => undefined);
      while (kernel.requestedReboots.length === 0) await delay(2);
      stopped.abort(new Error("SIGTERM"));
      await passing;
    }

    it("is changed, and the node reboots once", async () => {
      const kernel = kernelWith();
      await passUntilReboot(kernel);
      expect(firmwareWrites(kernel)).toEqual(["firmware.setValues"]);
      kernel.reboot();
      const next = daemonOn(kernel.host(), { firmwarePolicy });
      expect(await next.pass(many)).toBe("settled");
      expect([next.error(), statusOf(next)?.numVfs]).toEqual(["", 32]);
      expect(kernel.requestedReboots).toHaveLength(1);
      expect(kernel.listFiles()).not.toContain(rebootFile);
    });

    it("and does not use its values after the reboot is reported, and the node does not reboot again", async () => {
      const kernel = kernelWith();
      kernel.freezeFirmware(pci(first));
      await passUntilReboot(kernel);
      kernel.reboot();
      for (let nth = 0; nth < 2; nth++) {
        const next = daemonOn(kernel.host(), { firmwarePolicy });
        expect(await next.pass(many)).toBe("settled");
        expect(next.error()).toContain("firmware 0000:3b:00 NUM_OF_VFS=32 is not in effect after a reboot");
        expect(statusOf(next)?.numVfs).toBe(0);
      }
      expect(kernel.requestedReboots).toHaveLength(1);
      expect(firmwareWrites(kernel)).toEqual(["firmware.setValues"]);
    });

    it("because a reset had no effect, makes the node reboot", async () => {
      const kernel = kernelWith();
      kernel.freezeFirmware(pci(first));
      await passUntilReboot(kernel, {});
      expect(firmwareWrites(kernel)).toEqual(["firmware.setValues", "firmware.resetCard"]);
    });
  });

  it.each([
    { when: "just before", isDone: false },
    { when: "just after", isDone: true },
  ])("reaches the same values after a kill $when each write", async ({ isDone }) => {
    const undisturbed = kernelWith();
    await daemonOn(undisturbed.host()).pass(many);
    for (let nth = 1; nth <= undisturbed.writes.length; nth++) {
      const kernel = kernelWith();
      const killed = killedAtWrite(kernel.host(), nth, isDone);
      await Promise.race([daemonOn(killed.host).pass(many), killed.death]);
      const daemon = daemonOn(kernel.host());
      expect([nth, await daemon.pass(many)]).toEqual([nth, "settled"]);
      expect([nth, daemon.error(), statusOf(daemon)?.numVfs]).toEqual([nth, "", 32]);
      await daemon.pass(state([], [first]));
      expect([nth, await settingsOf(kernel)]).toMatchObject([nth, { NUM_OF_VFS: [32, 16] }]);
    }
  });
});
