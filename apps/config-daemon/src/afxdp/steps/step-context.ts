// SPDX-License-Identifier: Apache-2.0
/**
 * createAfxdpStepContext gives the steps of one device the present interface of the device and its present subfunctions. Steps
 * name subfunctions by number, and the kernel needs ports and names. Listing all subfunctions reads several files of each, so the
 * list is kept until a step changes something.
 */
import { parsePciAddress, type PciAddress } from "@switchyard/api";
import { HostError, type Host, type Subfunction } from "@switchyard/host";
import type { AfxdpStep } from "@switchyard/plan";
import type { StepTiming } from "../../deadlines/with-deadline.ts";
import { findDeviceLinks } from "../observe/device-links.ts";

export interface AfxdpStepContext {
  readonly host: Host;
  readonly device: string;
  readonly timing: StepTiming;
  readonly signal: AbortSignal;
  /** Throws HostError EINVAL if the device is not a PCI device. */
  readonly pf: () => PciAddress;
  /** Returns the port of the subfunction. Rejects with HostError ENODEV if the subfunction does not exist. */
  readonly portOf: (sfNumber: number) => Promise<number>;
  /** Returns undefined if the subfunction does not exist. */
  readonly findSubfunction: (sfNumber: number) => Promise<Subfunction | undefined>;
  /** To be called after a change of subfunctions; with the port of one that was created. */
  readonly changed: (created?: { readonly sfNumber: number; readonly portIndex: number }) => void;
  /** Returns the MAC address that is recorded for the subfunction. */
  readonly recordedMac: (sfNumber: number) => Promise<string | undefined>;
  /** Returns the name of the interface of the device or of its subfunction. Rejects with HostError ENODEV if the host has none. */
  readonly interfaceName: (sfNumber: number | undefined) => Promise<string>;
  /** To be called if the driver has no subfunctions on the device. */
  readonly refusesSubfunctions: () => void;
  /**
   * Waits until `check` accepts each of the subfunctions, and returns those that it does not accept. The timeout begins again
   * with each one that it accepts, because drivers may need time for each.
   */
  readonly waitForAll: (
    sfNumbers: readonly number[],
    check: (one: Subfunction | undefined) => boolean,
  ) => Promise<readonly number[]>;
  /** Waits until udev has named the interfaces. Rejects with HostError ETIMEDOUT. */
  readonly settle: () => Promise<void>;
}

/** What the steps of one device share. */
export interface DeviceMemory {
  found: ReadonlyMap<number, Subfunction> | undefined;
  macs: Readonly<Record<string, string>> | undefined;
  readonly createdPorts: Map<number, number>;
}

export interface AfxdpStepContextOptions {
  readonly timing: StepTiming;
  readonly signal: AbortSignal;
  readonly memory: DeviceMemory;
  readonly subfunctionSupport: { refused(device: string): void };
}

/** The steps that have ended, with the errors of those that failed, and undefined for the others. */
export type StepOutcomes = Map<AfxdpStep, unknown>;

const pollMs = 50;

export function createDeviceMemory(): DeviceMemory {
  return { found: undefined, macs: undefined, createdPorts: new Map() };
}

export function createAfxdpStepContext(
  host: Host,
  device: string,
  { timing, signal, memory, subfunctionSupport }: AfxdpStepContextOptions,
): AfxdpStepContext {
  function pf(): PciAddress {
    const parsed = parsePciAddress(device);
    if (!parsed.ok) throw new HostError({ action: "parse PCI address", target: device }, "EINVAL", {});
    return parsed.value;
  }

  async function list(): Promise<ReadonlyMap<number, Subfunction>> {
    const address = pf();
    const all = (await host.subfunctions.list()).filter((one) => one.pf === address);
    return (memory.found = new Map(all.map((one) => [one.sfNumber, one])));
  }

  async function findSubfunction(sfNumber: number): Promise<Subfunction | undefined> {
    return (memory.found ?? (await list())).get(sfNumber);
  }

  async function deviceName(): Promise<string | undefined> {
    const [pfs, links] = await Promise.all([host.sriov.listPfs(), host.links.listLinks()]);
    return (await findDeviceLinks(host, { pfs, links })).get(device)?.link?.name;
  }

  return {
    host,
    device,
    timing,
    signal,
    pf,
    findSubfunction,
    async portOf(sfNumber) {
      const portIndex = memory.createdPorts.get(sfNumber) ?? (await findSubfunction(sfNumber))?.portIndex;
      if (portIndex !== undefined) return portIndex;
      throw new HostError({ action: `look up subfunction ${sfNumber}`, target: device }, "ENODEV", {});
    },
    changed(created) {
      memory.found = undefined;
      if (created === undefined) memory.createdPorts.clear();
      else memory.createdPorts.set(created.sfNumber, created.portIndex);
    },
    async recordedMac(sfNumber) {
      memory.macs ??= (await host.afxdpRecords.list()).get(device)?.macs ?? {};
      return memory.macs[sfNumber];
    },
    async interfaceName(sfNumber) {
      const name = sfNumber === undefined ? await deviceName() : (await findSubfunction(sfNumber))?.netdev;
      if (name !== undefined) return name;
      const target = sfNumber === undefined ? device : `subfunction ${sfNumber} of ${device}`;
      const words = "it is not in the network namespace of the host";
      throw new HostError({ action: "look up network interface", target }, "ENODEV", { words });
    },
    refusesSubfunctions() {
      subfunctionSupport.refused(device);
    },
    async waitForAll(sfNumbers, check) {
      let left = sfNumbers;
      let deadlineMs = timing.nowMs() + timing.linkTimeoutMs;
      for (;;) {
        const found = await list();
        const next = left.filter((sfNumber) => !check(found.get(sfNumber)));
        if (next.length < left.length) deadlineMs = timing.nowMs() + timing.linkTimeoutMs;
        left = next;
        if (left.length === 0 || timing.nowMs() >= deadlineMs || signal.aborted) return left;
        await timing.sleep(pollMs, signal);
      }
    },
    settle: () => host.udev.settle({ timeoutMs: timing.udevTimeoutMs, signal }),
  };
}

/** Runs steps one after another. A step that fails does not stop the others; `signal` ends them after the running one. */
export async function runEach<Step extends AfxdpStep>(
  steps: readonly Step[],
  { outcomes, signal }: { readonly outcomes: StepOutcomes; readonly signal: AbortSignal },
  run: (step: Step) => Promise<void>,
): Promise<void> {
  for (const step of steps) {
    if (signal.aborted) return;
    try {
      await run(step);
      outcomes.set(step, undefined);
    } catch (error) {
      outcomes.set(step, error);
    }
  }
}
