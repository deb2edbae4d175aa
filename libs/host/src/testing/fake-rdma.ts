// SPDX-License-Identifier: Apache-2.0
/**
 * Implements the RDMA subsystem of the fake kernel: whether ib_core is loaded, its mode, and RDMA devices: those that were
 * added by name, and those of PCI functions whose driver creates one.
 */
import type { PciAddress } from "@switchyard/api";
import type { KernelEvent } from "../ports/kernel.ts";
import type { Rdma, RdmaDevice, RdmaMode } from "../ports/devices.ts";
import { answer, Refusal } from "./faults.ts";

export interface FakeRdmaDeps {
  /** If a mode is given, ib_core is loaded from the start. */
  readonly mode: RdmaMode | undefined;
  readonly emit: (event: KernelEvent) => void;
  /** Reports whether a network namespace other than that of the host exists. */
  readonly hasOtherNamespaces: () => boolean;
  /** Returns the mode that an option in /etc/modprobe.d sets; undefined without an option. */
  readonly readOption: () => RdmaMode | undefined;
}

export interface FakeRdma {
  readonly port: Omit<Rdma, "setVfGuid">;
  /** Loads ib_core in the mode of its option, which is shared by default, unless it is loaded. */
  load(): void;
  /** Adds a device, and loads ib_core for it. */
  addDevice(name: string): void;
  /** Adds the device of a PCI function, whose driver loads ib_core. `guid` is eight bytes with colons. */
  addOf(pciAddress: PciAddress, guid: string): void;
  /** Removes the device of a PCI function, if it has one. */
  removeOf(pciAddress: PciAddress): void;
  /** Removes all devices and unloads ib_core. */
  unload(): void;
  setMode(mode: RdmaMode): void;
  /** Loads ib_core again if it was loaded. */
  reboot(): void;
}

export function createFakeRdma({ mode: initial, emit, hasOtherNamespaces, readOption }: FakeRdmaDeps): FakeRdma {
  const devices = new Map<string, RdmaDevice>();
  let mode = initial;
  let nextNumber = 0;

  function load(): void {
    mode ??= readOption() ?? "shared";
  }

  // rdma_compatdev_set(), 6.12
  function setMode(wanted: RdmaMode): void {
    if (mode === undefined) throw new Refusal("EPROTONOSUPPORT");
    if (mode !== wanted && hasOtherNamespaces()) throw new Refusal("EBUSY");
    mode = wanted;
  }

  return {
    port: {
      readMode: () => answer(() => mode),
      setMode: (wanted) =>
        answer(() => {
          setMode(wanted);
        }),
      listDevices: () => answer(() => [...devices.values()].sort((a, b) => (a.name < b.name ? -1 : 1))),
    },
    load,
    addDevice(name) {
      load();
      devices.set(name, { name, nodeGuid: "5054:00ff:feaa:0000" });
      emit({ kind: "rdma", action: "add", name });
    },
    addOf(pciAddress, guid) {
      load();
      const name = `mlx5_${nextNumber++}`;
      const [a, b, c, d] = guid.replaceAll(":", "").match(/.{4}/g) ?? [];
      // The policy of a VF of mlx5 is "Down" or "Follow" (linkState); without one, its port is down.
      devices.set(name, { name, pciAddress, nodeGuid: [a, b, c, d].join(":"), portState: "DOWN" });
      emit({ kind: "rdma", action: "add", name });
    },
    removeOf(pciAddress) {
      for (const { name, pciAddress: of } of devices.values()) {
        if (of !== pciAddress) continue;
        devices.delete(name);
        emit({ kind: "rdma", action: "remove", name });
      }
    },
    unload() {
      for (const name of devices.keys()) emit({ kind: "rdma", action: "remove", name });
      devices.clear();
      mode = undefined;
    },
    setMode,
    reboot() {
      devices.clear();
      if (mode !== undefined) mode = readOption() ?? "shared";
    },
  };
}
