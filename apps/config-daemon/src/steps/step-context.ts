// SPDX-License-Identifier: Apache-2.0
/**
 * createStepContext gives the steps of one PF the host and the present addresses and interfaces of the PF and its VFs. Steps
 * name VFs by index, and the kernel needs addresses and names.
 */
import { parsePciAddress, type PciAddress } from "@switchyard/api";
import { bindDefault, hasKernelDriver, HostError, type Host, type Link } from "@switchyard/host";
import type { StepTiming } from "../deadlines/with-deadline.ts";
import { createExplainer, type Explainer } from "./explain-refusal.ts";
import { groupByDevice, uplinkAmong } from "../observe/interface-status.ts";

/** One PF and its VFs. Lists are cached until forget(), because the steps of 128 VFs need the same lists. */
export interface StepContext {
  readonly host: Host;
  readonly pf: PciAddress;
  readonly timing: StepTiming;
  readonly signal: AbortSignal;
  /** Asks the kubelet, and reports whether no pod has the VF. False where the kubelet cannot be asked. */
  isFree(vf: PciAddress): Promise<boolean>;
  /** Rejects with HostError ENODEV if the VF does not exist. */
  vfAddress(vfId: number): Promise<PciAddress>;
  /** Returns the network interface of the PF. Rejects with HostError ENODEV if it has none. */
  pfLink(): Promise<Link>;
  /** Returns the network interface of a device without waiting for it; undefined if it has none on the host. */
  findLink(device: PciAddress): Promise<Link | undefined>;
  /** Waits until the driver has created the network interface of the VF, and udev has named it. Rejects with HostError ETIMEDOUT. */
  vfLink(vfId: number): Promise<Link>;
  /**
   * Waits until udev has handled the changes of the steps. Events of other PFs are not waited for, unless udev may yet load a
   * driver for a VF of this one. Rejects with HostError ETIMEDOUT.
   */
  settle(): Promise<void>;
  /** Waits until udev has handled all events, and so has loaded all modules. Rejects with HostError ETIMEDOUT. */
  settleAll(): Promise<void>;
  readonly explainer: Explainer;
  /** Drops all cached lists. A step calls it when it creates or removes VFs. */
  forget(): void;
  /** Drops the cached interfaces of one device. A step calls it when it removes them. */
  forgetLinksOf(device: PciAddress): void;
  /** Drops the cached interfaces. A step calls it when it adds, removes or changes interfaces. */
  forgetLinks(): void;
}

/** What a step of the whole node uses besides the host. */
export interface NodeStepContext {
  readonly timing: StepTiming;
  readonly signal: AbortSignal;
}

/** What a step of a PF uses besides the host. */
export interface StepContextOptions extends NodeStepContext {
  /** Absent where the kubelet cannot be asked. */
  readonly isFree?: ((vf: PciAddress, signal: AbortSignal) => Promise<boolean>) | undefined;
}

const linkPollMs = 50;

/** Throws HostError EINVAL if `pciAddress` is not a PCI address. */
export function createStepContext(
  host: Host,
  pciAddress: string,
  { timing, signal, isFree = () => Promise.resolve(false) }: StepContextOptions,
): StepContext {
  const parsed = parsePciAddress(pciAddress);
  if (!parsed.ok) throw new HostError({ action: "parse PCI address", target: pciAddress }, "EINVAL", {});
  const pf = parsed.value;
  let addresses: Promise<ReadonlyMap<number, PciAddress>> | undefined;
  let links: Promise<ReadonlyMap<string, readonly Link[]>> | undefined;
  let isSettled = false; // a daemon that was killed may have left work to udev

  async function readAddresses(): Promise<ReadonlyMap<number, PciAddress>> {
    const facts = await host.sriov.readPf(pf);
    return new Map((facts?.sriov?.vfs ?? []).map((vf) => [vf.vfId, vf.pciAddress]));
  }

  async function vfAddress(vfId: number): Promise<PciAddress> {
    addresses ??= readAddresses();
    const address = (await addresses).get(vfId);
    if (address === undefined) throw new HostError({ action: `look up VF ${vfId}`, target: pf }, "ENODEV", {});
    return address;
  }

  /** A VF without a driver would be waited for in vain. The kernel may not have bound one, or another one (bind-driver.ts). */
  async function ensureKernelDriver(device: PciAddress): Promise<void> {
    const target = { sriov: host.sriov, pf, device };
    if (await hasKernelDriver(target)) return;
    await settle(); // udev may have yet to load the driver
    if (await hasKernelDriver(target)) return;
    await bindDefault(target);
    links = undefined;
    isSettled = false;
  }

  async function settle(): Promise<void> {
    if (isSettled) return;
    await host.udev.settle({ timeoutMs: timing.udevTimeoutMs, signal, pf });
    isSettled = true;
  }

  async function readLinks(): Promise<ReadonlyMap<string, readonly Link[]>> {
    await settle(); // Names can change until udev has handled the interfaces.
    return groupByDevice(await host.links.listLinks());
  }

  async function linksOf(device: string): Promise<readonly Link[]> {
    links ??= readLinks();
    return (await links).get(device) ?? [];
  }

  return {
    explainer: createExplainer(host.kernelLog, pf),
    host,
    pf,
    timing,
    signal,
    isFree: (vf) => isFree(vf, signal),
    vfAddress,
    async pfLink() {
      const link = uplinkAmong(await linksOf(pf));
      if (link === undefined) throw new HostError({ action: "look up network interface", target: pf }, "ENODEV", {});
      return link;
    },
    findLink: async (device) => (await linksOf(device))[0],
    async vfLink(vfId) {
      const address = await vfAddress(vfId);
      const [present] = await linksOf(address);
      if (present !== undefined) return present;
      await ensureKernelDriver(address);
      const deadlineMs = timing.nowMs() + timing.linkTimeoutMs;
      for (;;) {
        const [link] = await linksOf(address);
        if (link !== undefined) return link;
        if (timing.nowMs() >= deadlineMs || signal.aborted) {
          const words = `VF ${vfId} of ${pf} has no network interface after ${timing.linkTimeoutMs / 1000} s`;
          throw new HostError({ action: "wait for network interface", target: address }, "ETIMEDOUT", { words });
        }
        await timing.sleep(linkPollMs, signal);
        links = undefined;
      }
    },
    settle,
    settleAll: () => host.udev.settle({ timeoutMs: timing.udevTimeoutMs, signal }),
    forget() {
      addresses = undefined;
      links = undefined;
      isSettled = false;
    },
    forgetLinksOf(device) {
      links = links?.then((byDevice) => new Map([...byDevice].filter(([name]) => name !== device)));
      isSettled = false;
    },
    forgetLinks() {
      links = undefined;
      isSettled = false;
    },
  };
}
