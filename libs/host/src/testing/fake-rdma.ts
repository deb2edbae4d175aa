// SPDX-License-Identifier: Apache-2.0
/**
 * Implements the RDMA subsystem of the fake kernel: whether ib_core is loaded, its mode, and the names of RDMA devices.
 * Usage: `const { port, load } = createFakeRdma({ mode: "exclusive", emit })`.
 */
import type { KernelEvent } from "../ports/kernel-events.ts";
import type { Rdma, RdmaMode } from "../ports/rdma.ts";
import { answer, Refusal } from "./refusal.ts";

export interface FakeRdmaDeps {
  /** If a mode is given, ib_core is loaded from the start. */
  readonly mode: RdmaMode | undefined;
  readonly emit: (event: KernelEvent) => void;
}

export interface FakeRdma {
  readonly port: Rdma;
  /** Loads ib_core in shared mode, unless it is loaded. */
  load(): void;
  /** Adds a device, and loads ib_core for it. */
  addDevice(name: string): void;
  /** Removes all devices and unloads ib_core. */
  unload(): void;
  setMode(mode: RdmaMode): void;
}

export function createFakeRdma({ mode: initial, emit }: FakeRdmaDeps): FakeRdma {
  const devices = new Set<string>();
  let mode = initial;

  function load(): void {
    mode ??= "shared";
  }

  return {
    port: { readMode: () => answer(() => mode) },
    load,
    addDevice(name) {
      load();
      devices.add(name);
      emit({ kind: "rdma", action: "add", name });
    },
    unload() {
      for (const name of devices) emit({ kind: "rdma", action: "remove", name });
      devices.clear();
      mode = undefined;
    },
    setMode(wanted) {
      if (mode === undefined) throw new Refusal("EPROTONOSUPPORT");
      mode = wanted;
    },
  };
}
