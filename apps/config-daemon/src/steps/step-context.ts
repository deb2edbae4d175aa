// SPDX-License-Identifier: Apache-2.0
/**
 * What the steps of one PF share while they run: the host, and where the PF's VFs and interfaces are at this moment.
 * Steps name VFs by index; the kernel wants addresses and names.
 */
import { parsePciAddress, type PciAddress } from "@switchyard/api";
import { HostError, type Host, type Link } from "@switchyard/host";
import { groupByDevice, uplinkOf } from "../observe/interface-status.ts";

/** One PF as its steps see it. Lookups are remembered until `forget`, since 128 VFs ask for the same lists. */
export interface StepContext {
  readonly host: Host;
  readonly pf: PciAddress;
  readonly signal: AbortSignal;
  /** Rejects with HostError ENODEV where there is no such VF. */
  vfAddress(vfId: number): Promise<PciAddress>;
  /** The PF's interface. Rejects with HostError ENODEV where it has none. */
  pfLink(): Promise<Link>;
  /** The VF's interface; waits for the driver and udev to make and name it. Rejects with HostError ETIMEDOUT. */
  vfLink(vfId: number): Promise<Link>;
  /** Resolves when udev is through with what the steps did. Rejects with HostError ETIMEDOUT. */
  settle(): Promise<void>;
  /** To be called by a step that makes or removes VFs. */
  forget(): void;
  /** To be called by a step after which interfaces come, go or change. */
  forgetLinks(): void;
}

/** Times of a step, injected so that tests need not wait. */
export interface StepTiming {
  /** A step that takes longer, or a look at the host, is left behind and reported; it may still come to its end. */
  readonly stepDeadlineMs: number;
  readonly linkTimeoutMs: number;
  readonly udevTimeoutMs: number;
  /** Resolves after so many ms, or at once when `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  nowMs(): number;
}

const linkPollMs = 50;

/** Rejects with HostError EINVAL for an address that is none. */
export function createStepContext(
  host: Host,
  pciAddress: string,
  timing: StepTiming,
  signal: AbortSignal,
): StepContext {
  const parsed = parsePciAddress(pciAddress);
  if (!parsed.ok) throw new HostError({ tried: "read the PCI address", target: pciAddress }, "EINVAL", {});
  const pf = parsed.value;
  let addresses: Promise<ReadonlyMap<number, PciAddress>> | undefined;
  let links: Promise<ReadonlyMap<string, readonly Link[]>> | undefined;
  let isSettled = true;

  async function readAddresses(): Promise<ReadonlyMap<number, PciAddress>> {
    const facts = await host.sriov.readPf(pf);
    return new Map((facts?.sriov?.vfs ?? []).map((vf) => [vf.vfId, vf.pciAddress]));
  }

  async function vfAddress(vfId: number): Promise<PciAddress> {
    addresses ??= readAddresses();
    const address = (await addresses).get(vfId);
    if (address === undefined) throw new HostError({ tried: `look up VF ${vfId}`, target: pf }, "ENODEV", {});
    return address;
  }

  async function settle(): Promise<void> {
    if (isSettled) return;
    await host.udev.settle({ timeoutMs: timing.udevTimeoutMs, signal });
    isSettled = true;
  }

  async function readLinks(): Promise<ReadonlyMap<string, readonly Link[]>> {
    await settle(); // Names before udev is through are not the last ones.
    return groupByDevice(await host.links.listLinks());
  }

  async function linksOf(device: string): Promise<readonly Link[]> {
    links ??= readLinks();
    return (await links).get(device) ?? [];
  }

  return {
    host,
    pf,
    signal,
    vfAddress,
    async pfLink() {
      const link = uplinkOf(await linksOf(pf));
      if (link === undefined) throw new HostError({ tried: "look up the interface", target: pf }, "ENODEV", {});
      return link;
    },
    async vfLink(vfId) {
      const address = await vfAddress(vfId);
      const deadlineMs = timing.nowMs() + timing.linkTimeoutMs;
      for (;;) {
        const [link] = await linksOf(address);
        if (link !== undefined) return link;
        if (timing.nowMs() >= deadlineMs || signal.aborted) {
          const words = `VF ${vfId} of ${pf} has no network interface after ${timing.linkTimeoutMs / 1000} s`;
          throw new HostError({ tried: "wait for the interface", target: address }, "ETIMEDOUT", { words });
        }
        await timing.sleep(linkPollMs, signal);
        links = undefined;
      }
    },
    settle,
    forget() {
      addresses = undefined;
      links = undefined;
      isSettled = false;
    },
    forgetLinks() {
      links = undefined;
      isSettled = false;
    },
  };
}
