// SPDX-License-Identifier: Apache-2.0
/**
 * Implements udev on the fake kernel. Some time after an event, it loads the driver of a new function, or names a new
 * interface and stores its properties, by the rules that it read at boot or by reloadRules(). It never notices new
 * files by itself, although the real udev does after three seconds.
 */
import type { PciAddress } from "@switchyard/api";
import type { KernelEvent } from "../ports/kernel.ts";
import type { Udev } from "../ports/system-services.ts";
import type { KernelClock } from "./clock.ts";
import type { Netdev, Netdevs } from "./fake-netdevs.ts";
import type { PciBus } from "./fake-pci.ts";
import { pci } from "./nic-models.ts";
import type { AnyFunction } from "./fake-functions.ts";
import { answer, Refusal } from "./faults.ts";
import { applyRules, parseRules, type Rule, type RuleDevice } from "./udev-rules.ts";

export interface FakeUdevDeps {
  readonly bus: PciBus;
  readonly netdevs: Netdevs;
  readonly clock: KernelClock;
  /** Returns the texts of the rules in /etc/udev/rules.d by the names of their files. */
  readonly readRules: () => readonly string[];
  /** Time that udev needs for each event. */
  readonly delayMs: number;
}

export interface FakeUdev {
  readonly port: Udev;
  onEvent(event: KernelEvent): void;
  /** Names all present interfaces at once, as at boot. */
  coldPlug(): void;
}

/** Files of the PF that can be reached from the directory of the interface of a VF. */
function attributesOfPf(fn: AnyFunction | undefined): Readonly<Record<string, string>> {
  if (fn?.kind !== "vf") return {};
  const { pciAddress, port } = fn.pf;
  return {
    "device/physfn/vendor": `0x${port.vendor}`,
    "device/physfn/device": `0x${port.deviceId}`,
    "device/physfn/uevent": `DRIVER=${port.driver}\nPCI_ID=${port.vendor}:${port.deviceId}\nPCI_SLOT_NAME=${pciAddress}\n`,
  };
}

export function createFakeUdev({ bus, netdevs, clock, readRules, delayMs }: FakeUdevDeps): FakeUdev {
  const seen = new Set<number>();
  const waiting = new Set<() => void>();
  /** The PF of each event in hand; undefined for events of other devices. */
  const inHand: (PciAddress | undefined)[] = [];
  let rules: readonly Rule[] = [];

  async function handle(device: PciAddress | undefined, act: () => void): Promise<void> {
    const pf = device && pfOf(device);
    inHand.push(pf);
    await clock.sleep(delayMs);
    act();
    inHand.splice(inHand.indexOf(pf), 1);
    for (const wake of waiting) wake();
  }

  function pfOf(device: PciAddress): PciAddress | undefined {
    const fn = bus.find(device);
    return fn?.kind === "vf" ? fn.pf.pciAddress : fn?.pciAddress;
  }

  function nameInterface(netdev: Netdev): void {
    const fn = netdev.parent && bus.find(netdev.parent);
    if (fn === undefined || netdev.inPod || !netdevs.listVisible().includes(netdev)) return; // removed meanwhile
    const { port } = fn.kind === "pf" ? fn : fn.pf;
    const byRule = applyRules(rules, deviceOf(netdev, "add"));
    try {
      netdevs.rename(netdev, byRule.name ?? defaultName(fn, netdev));
      netdev.properties = applyRules(rules, deviceOf(netdev, "move")).properties;
      if (fn.kind === "pf" && netdev.representorOf === undefined)
        netdevs.change(netdev, (changed) => {
          changed.altNames = [...changed.altNames, ...port.altNames];
        });
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal; // udev logs the error; the interface keeps the name of the kernel
    }
  }

  function defaultName(fn: AnyFunction, { representorOf, physPortName = "" }: Netdev): string {
    const { port } = fn.kind === "pf" ? fn : fn.pf;
    const prefix = port.sriov?.vfNamePrefix ?? "";
    if (fn.kind === "vf") return `${prefix}${fn.vfId}`;
    // Seen with systemd 257 in the VM lab: enp1s0f0npf0sf5. The interface of a subfunction keeps the name of the kernel.
    if (representorOf === "subfunction") return prefix.replace(/v$/, `n${physPortName}`);
    const vf = representorOf === undefined ? undefined : bus.find(representorOf);
    return vf?.kind === "vf" ? `${prefix.replace(/v$/, "r")}${vf.vfId}` : port.name; // systemd 257: enp1s0f0r3
  }

  function deviceOf(netdev: Netdev, action: RuleDevice["action"]): RuleDevice {
    const { name, parent, physPortName, physSwitchId } = netdev;
    const fn = parent && bus.find(parent);
    return {
      action,
      name,
      parent,
      driver: fn?.driver,
      attributes: { phys_port_name: physPortName, phys_switch_id: physSwitchId, ...attributesOfPf(fn) },
      exists(path) {
        const [, directory = "", vfId] = /^(.+)\/virtfn(\d+)\/net\//.exec(path) ?? [];
        if (fn?.kind !== "vf" || fn.vfId !== Number(vfId) || !path.endsWith(`/${name}`)) return false;
        // The second one is relative to the directory of the interface.
        return [`/sys/bus/pci/devices/${fn.pf.pciAddress}`, "device/physfn"].includes(directory);
      },
    };
  }

  return {
    coldPlug() {
      rules = parseRules(readRules());
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
        void handle(netdev.parent, () => {
          nameInterface(netdev);
        });
      } else if (event.kind === "pci" && event.action === "add") {
        const fn = bus.find(pci(event.pciAddress));
        if (fn === undefined || bus.isRegistered(fn.nativeDriver)) return;
        void handle(fn.pciAddress, () => {
          bus.register(fn.nativeDriver); // modprobe by the alias of the function
        });
      }
    },
    port: {
      reloadRules: () =>
        answer(() => {
          rules = parseRules(readRules());
        }),
      async settle({ timeoutMs, signal, pf }) {
        signal.throwIfAborted();
        const isDone = () => (pf === undefined ? inHand.length === 0 : !inHand.includes(pf));
        if (isDone()) return;
        const done = new AbortController();
        const wake = () => {
          if (isDone()) done.abort();
        };
        waiting.add(wake);
        await clock.sleep(timeoutMs, AbortSignal.any([signal, done.signal]));
        waiting.delete(wake);
        signal.throwIfAborted();
        if (!isDone()) throw new Refusal("ETIMEDOUT");
      },
    },
  };
}
