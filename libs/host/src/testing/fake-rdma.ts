// SPDX-License-Identifier: Apache-2.0
/**
 * The RDMA subsystem of the fake kernel: a module that is loaded or not, its mode, and RDMA devices, which are names here.
 * Usage: `const { port, load } = createFakeRdma({ mode: "exclusive", emit })`.
 */
import type { KernelEvent } from "../ports/kernel-events.ts";
import type { Rdma, RdmaMode } from "../ports/rdma.ts";
import { answer, Refusal } from "./refusal.ts";

export interface FakeRdmaDeps {
  /** Loaded from the start where a mode is given. */
  readonly mode: RdmaMode | undefined;
  readonly emit: (event: KernelEvent) => void;
}

export interface FakeRdma {
  readonly port: Rdma;
  /** Loads ib_core, whose mode is shared then; nothing where it is loaded already. */
  load(): void;
  /** A driver makes a device, and brings ib_core with it. */
  addDevice(name: string): void;
  /** Takes devices and ib_core away. */
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
