// SPDX-License-Identifier: Apache-2.0
/**
 * Implements udev on the fake kernel. Some time after an event, it loads the driver of a new function, or names a new interface.
 * Usage: `const udev = createFakeUdev({ bus, netdevs, clock, delayMs: 1 }); udev.onEvent({ kind: "link", name: "eth0" })`.
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
  /** Time that udev needs for each event. */
  readonly delayMs: number;
}

export interface FakeUdev {
  readonly port: Udev;
  onEvent(event: KernelEvent): void;
  /** Names all present interfaces at once, as at boot. */
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
    const fn = netdev.parent && bus.find(netdev.parent);
    if (fn === undefined || netdev.inPod || !netdevs.listVisible().includes(netdev)) return; // removed meanwhile
    const { port } = fn.kind === "pf" ? fn : fn.pf;
    const name = fn.kind === "pf" ? port.name : `${port.sriov?.vfNamePrefix ?? ""}${fn.vfId}`;
    try {
      netdevs.rename(netdev, name);
      if (fn.kind === "pf")
        netdevs.change(netdev, (changed) => {
          changed.altNames = [...changed.altNames, ...port.altNames];
        });
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal; // udev logs the error; the interface keeps the name of the kernel
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
          bus.register(fn.nativeDriver); // modprobe by the alias of the function
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
