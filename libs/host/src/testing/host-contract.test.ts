// SPDX-License-Identifier: Apache-2.0
import { describe, it } from "@jest/globals";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PciAddress } from "@switchyard/api";
import type { Host } from "../ports/host.ts";
import { systemKernelClock, type KernelClock } from "./clock.ts";
import { connectFakeHost } from "./connect-fake-host.ts";
import { runContractCase, type ContractWorld } from "./contract/world.ts";
import { createFakeKernel, type FakeKernel, type FakeKernelOptions } from "./fake-kernel.ts";
import { hostContractCases, systemdCases, virtioCases } from "./host-contract.ts";
import { igb, pci, virtioWithVfs } from "./nic-models.ts";
import { serveFakeKernel } from "./serve-fake-kernel.ts";

function worldOf(kernel: FakeKernel, host: Host, { hasEswitch = false, hasUdev = true } = {}): ContractWorld {
  const inPods = new Set<PciAddress>();
  const returns: (() => void)[] = [];
  const links: string[] = [];

  /** Acts on the kernel directly. The call before it ensures that a watch that was sent earlier has started. */
  async function byHand(act: () => void): Promise<void> {
    await host.devlink.readEswitchMode(pci("0000:01:00.0"));
    act();
  }

  return {
    host,
    hasEswitch,
    hasUdev,
    udevProperties: (name) => Promise.resolve(kernel.udevProperties(name)),
    pfs: [pci("0000:01:00.0"), pci("0000:01:00.1")],
    absent: pci("0000:02:00.0"),
    renameLink: (name, newName) =>
      byHand(() => {
        kernel.renameLink(name, newName);
      }),
    addAltName: (name, altName) =>
      byHand(() => {
        kernel.addAltName(name, altName);
      }),
    setPromiscuous: (name) =>
      byHand(() => {
        kernel.setPromiscuousByHand(name);
      }),
    addLink: (name, kind, lower) =>
      byHand(() => {
        kernel.addLinkByHand(name, kind, lower);
        links.push(name);
      }),
    setMaster: (name, master) =>
      byHand(() => {
        kernel.setMasterByHand(name, master);
      }),
    addRoute: (destination, name) =>
      byHand(() => {
        kernel.addRouteByHand(destination, name);
      }),
    removeLinksAndRoutes: () =>
      byHand(() => {
        for (const name of links.splice(0)) kernel.deleteLinkByHand(name);
        kernel.removeRoutesByHand();
      }),
    moveToPod: (vf) =>
      byHand(() => {
        kernel.moveToPod(vf);
        inPods.add(vf);
      }),
    moveLinkToPod: (name) =>
      byHand(() => {
        returns.push(kernel.moveLinkToPod(name));
      }),
    returnFromPods: () =>
      byHand(() => {
        for (const back of returns.splice(0)) back();
        for (const vf of inPods) kernel.returnFromPod(vf);
        inPods.clear();
      }),
    addRdmaDevice: (name) =>
      byHand(() => {
        kernel.addRdmaDevice(name);
      }),
    unloadRdma: () => byHand(kernel.unloadRdmaByHand),
    loadVdpaSimulator: () => byHand(kernel.loadVdpaSimulator),
    unloadVdpa: () => byHand(kernel.unloadVdpaByHand),
    setRdmaMode: (mode) =>
      byHand(() => {
        kernel.setRdmaModeByHand(mode);
      }),
    writeFile: (path, text) =>
      byHand(() => {
        kernel.writeFile(path, text);
      }),
    linkFile: (path, target) =>
      byHand(() => {
        kernel.linkFile(path, target);
      }),
  };
}

/** Runs three times as fast, because igb needs seconds to get a carrier. */
const fasterClock: KernelClock = {
  nowMs: () => systemKernelClock.nowMs() * 3,
  sleep: (ms, signal) => systemKernelClock.sleep(ms / 3, signal),
  later: (ms, act) => {
    systemKernelClock.later(ms / 3, act);
  },
};

function newKernel(options: Partial<FakeKernelOptions> = {}): FakeKernel {
  return createFakeKernel({ nics: [igb("0000:01:00.0")], clock: fasterClock, firmwareTools: false, ...options });
}

describe("the fake kernel meets the host contract", () => {
  it.each([...hostContractCases, ...systemdCases])("$name", async (contractCase) => {
    const kernel = newKernel();
    await runContractCase(contractCase, worldOf(kernel, kernel.host()));
  });
});

describe("the fake kernel with an eswitch meets the host contract", () => {
  const ports = igb("0000:01:00.0").ports.map((port, number) => ({
    ...port,
    parameters: { flow_steering_mode: "dmfs" },
    maxSubfunctions: 64,
    ...({ eswitchMode: "legacy", physPortName: `p${number}`, physSwitchId: "525400aa00000000" } as const),
  }));

  it.each(hostContractCases)("$name", async (contractCase) => {
    const kernel = newKernel({ nics: [{ ports }] });
    await runContractCase(contractCase, worldOf(kernel, kernel.host(), { hasEswitch: true }));
  });
});

describe("the fake kernel without udev meets the host contract", () => {
  it.each(hostContractCases)("$name", async (contractCase) => {
    const kernel = newKernel({ udevMs: "none" });
    await kernel.host().modules.load("igbvf"); // udev would load it
    await runContractCase(contractCase, worldOf(kernel, kernel.host(), { hasUdev: false }));
  });
});

describe("the fake kernel with virtio VFs meets the host contract", () => {
  it.each(virtioCases)("$name", async (contractCase) => {
    const kernel = newKernel({ nics: [igb("0000:01:00.0"), virtioWithVfs("0000:02:00.0")] });
    const world = worldOf(kernel, kernel.host());
    await runContractCase(contractCase, { ...world, virtioPf: pci("0000:02:00.0") });
  });
});

describe("the fake kernel in another process meets the host contract", () => {
  it.each(hostContractCases)("$name", async (contractCase) => {
    const directory = await mkdtemp(join(tmpdir(), "fake-kernel-"));
    const kernel = newKernel();
    const server = await serveFakeKernel(kernel, join(directory, "kernel.sock"));
    try {
      using host = connectFakeHost(join(directory, "kernel.sock"));
      await runContractCase(contractCase, worldOf(kernel, host));
    } finally {
      await server[Symbol.asyncDispose]();
      await rm(directory, { recursive: true });
    }
  });
});
