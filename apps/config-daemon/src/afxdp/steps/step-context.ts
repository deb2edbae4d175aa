// SPDX-License-Identifier: Apache-2.0
/**
 * createAfxdpStepContext gives the steps of one device the present interface of the device and its present subfunctions. Steps
 * name subfunctions by number, and the kernel needs ports and names.
 */
import { parsePciAddress, type PciAddress } from "@switchyard/api";
import { HostError, type Host, type Subfunction } from "@switchyard/host";
import type { StepTiming } from "../../steps/step-context.ts";
import { findDeviceLinks } from "../observe/device-links.ts";

export interface AfxdpStepContext {
  readonly host: Host;
  readonly device: string;
  readonly timing: StepTiming;
  readonly signal: AbortSignal;
  /** Throws HostError EINVAL if the device is not a PCI device. */
  readonly pf: () => PciAddress;
  /** Returns undefined if the subfunction does not exist. */
  readonly findSubfunction: (sfNumber: number) => Promise<Subfunction | undefined>;
  /** Returns the name of the interface of the device or of its subfunction. Rejects with HostError ENODEV if the host has none. */
  readonly interfaceName: (sfNumber: number | undefined) => Promise<string>;
  /** Waits until `check` accepts the subfunction, and returns whether it did before the timeout. */
  readonly waitFor: (sfNumber: number, check: (one: Subfunction | undefined) => boolean) => Promise<boolean>;
  /** Waits until udev has named the interfaces. Rejects with HostError ETIMEDOUT. */
  readonly settle: () => Promise<void>;
}

const pollMs = 50;

export function createAfxdpStepContext(
  host: Host,
  device: string,
  { timing, signal }: { readonly timing: StepTiming; readonly signal: AbortSignal },
): AfxdpStepContext {
  function pf(): PciAddress {
    const parsed = parsePciAddress(device);
    if (!parsed.ok) throw new HostError({ action: "parse PCI address", target: device }, "EINVAL", {});
    return parsed.value;
  }

  async function findSubfunction(sfNumber: number): Promise<Subfunction | undefined> {
    const address = pf();
    return (await host.subfunctions.list()).find((one) => one.pf === address && one.sfNumber === sfNumber);
  }

  async function deviceName(): Promise<string | undefined> {
    const [pfs, links] = await Promise.all([host.sriov.listPfs(), host.links.listLinks()]);
    return (await findDeviceLinks(host, { pfs, links })).get(device)?.link?.name;
  }

  return {
    ...{ host, device, timing, signal, pf, findSubfunction },
    async interfaceName(sfNumber) {
      const name = sfNumber === undefined ? await deviceName() : (await findSubfunction(sfNumber))?.netdev;
      if (name !== undefined) return name;
      const target = sfNumber === undefined ? device : `subfunction ${sfNumber} of ${device}`;
      const words = "it is not in the network namespace of the host";
      throw new HostError({ action: "look up network interface", target }, "ENODEV", { words });
    },
    async waitFor(sfNumber, check) {
      const deadlineMs = timing.nowMs() + timing.linkTimeoutMs;
      for (;;) {
        if (check(await findSubfunction(sfNumber))) return true;
        if (timing.nowMs() >= deadlineMs || signal.aborted) return false;
        await timing.sleep(pollMs, signal);
      }
    },
    settle: () => host.udev.settle({ timeoutMs: timing.udevTimeoutMs, signal }),
  };
}
