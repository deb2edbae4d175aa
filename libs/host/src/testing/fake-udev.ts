// SPDX-License-Identifier: Apache-2.0
/**
 * udev on the fake kernel: some time after the kernel told it, it loads drivers for new functions and gives new
 * interfaces their names.
 * Usage: `const udev = createFakeUdev({ ... }); udev.onEvent({ kind: "link", name: "eth0" })`.
 */
import type { KernelEvent } from "../ports/kernel-events.ts";
import type { Udev } from "../ports/udev.ts";
import type { Clock } from "./clock.ts";
import type { Netdev, Netdevs } from "./fake-netdevs.ts";
import type { PciBus } from "./fake-pci.ts";
import { pci } from "./nic-models.ts";
import { Refusal } from "./refusal.ts";

export interface FakeUdevDeps {
  readonly bus: PciBus;
  readonly netdevs: Netdevs;
  readonly clock: Clock;
  /** How long each event takes. */
  readonly delayMs: number;
}

export interface FakeUdev {
  readonly port: Udev;
  onEvent(event: KernelEvent): void;
  /** Names at once what is there: the machine has just booted. */
  coldPlug(): void;
}

export function createFakeUdev({ bus, netdevs, clock, delayMs }: FakeUdevDeps): FakeUdev {
  const seen = new Set<number>();
  const idle = new Set<() => void>();
  let inHand = 0;

  async function handle(act: () => void): Promise<void> {
    inHand++;
    await clock.sleep(delayMs);
    act();
    inHand--;
    if (inHand > 0) return;
    for (const wake of idle) wake();
  }

  function nameInterface(netdev: Netdev): void {
    const fn = bus.find(netdev.parent);
    if (fn === undefined || netdev.inPod || !netdevs.listVisible().includes(netdev)) return; // gone meanwhile
    const { port } = fn.kind === "pf" ? fn : fn.pf;
    const name = fn.kind === "pf" ? port.name : `${port.sriov?.vfNamePrefix ?? ""}${fn.vfId}`;
    try {
      netdevs.rename(netdev, name);
      if (fn.kind === "pf")
        netdevs.change(netdev, (changed) => {
          changed.altNames = [...changed.altNames, ...port.altNames];
        });
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal; // udev logs it; the kernel's name stays
    }
  }

  return {
    coldPlug() {
      for (const netdev of netdevs.listVisible()) {
        seen.add(netdev.index);
        nameInterface(netdev);
      }
    },
    onEvent(event) {
      if (event.kind === "link") {
        const netdev = netdevs.listVisible().find(({ name }) => name === event.name);
        if (netdev === undefined || seen.has(netdev.index)) return;
        seen.add(netdev.index);
        void handle(() => {
          nameInterface(netdev);
        });
      } else if (event.kind === "pci" && event.action === "add") {
        const fn = bus.find(pci(event.pciAddress));
        if (fn === undefined || bus.isRegistered(fn.nativeDriver)) return;
        void handle(() => {
          bus.register(fn.nativeDriver); // modprobe by the function's alias
        });
      }
    },
    port: {
      async settle({ timeoutMs, signal }) {
        signal.throwIfAborted();
        if (inHand === 0) return;
        const done = new AbortController();
        const wake = () => {
          done.abort();
        };
        idle.add(wake);
        await clock.sleep(timeoutMs, AbortSignal.any([signal, done.signal]));
        idle.delete(wake);
        signal.throwIfAborted();
        if (inHand > 0) throw new Refusal("ETIMEDOUT");
      },
    },
  };
}
