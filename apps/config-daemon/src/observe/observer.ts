// SPDX-License-Identifier: Apache-2.0
/** createObserver observes the host with a deadline, and leaves out PFs that must not be read now. */
import {
  defined,
  err,
  ok,
  parsePciAddress,
  type InterfaceStatus,
  type Result,
  type SriovNetworkNodeStateSpec,
} from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import { createWithDeadline, type DeadlineDeps } from "../deadlines/with-deadline.ts";
import type { FirmwareReader } from "./firmware/firmware-reader.ts";
import type { VirtualNics } from "../virtual/virtual-nics.ts";
import { observeNode, type Observation, type ObserveOptions } from "./observe.ts";

/**
 * Returns the present state of the host, or a sentence that says why it cannot be read. The PFs of `leftOut` are not read,
 * because reading a PF blocks while its number of VFs is being written. The result contains them unchanged. `desired`
 * decides which firmware settings are read.
 */
export type ObserveHost = (
  leftOut: readonly InterfaceStatus[],
  desired: SriovNetworkNodeStateSpec,
) => Promise<Result<Observation, string>>;

export interface ObserverDeps extends DeadlineDeps, ObserveOptions {
  readonly firmware: Pick<FirmwareReader, "addTo">;
  /** Absent where the node is known to be no virtual machine. */
  readonly virtualNics?: VirtualNics;
  /** Called when an observation begins. */
  readonly onObserve?: () => void;
}

export function createObserver(host: Host, deps: ObserverDeps): ObserveHost {
  const withDeadline = createWithDeadline(host, deps);

  return async function observeHost(leftOut, desired) {
    deps.onObserve?.();
    try {
      const seen = await withDeadline((watched) => observeNode(without(watched, leftOut), deps));
      if (!seen.ok) return seen;
      const virtual = (await deps.virtualNics?.addTo(seen.value.interfaces)) ?? seen.value;
      const interfaces = await deps.firmware.addTo(virtual.interfaces, desired);
      const metadataProblem = "problem" in virtual ? virtual.problem : undefined;
      return ok(withInterfaces({ ...seen.value, interfaces, ...defined({ metadataProblem }) }, leftOut));
    } catch (thrown) {
      if (!(thrown instanceof HostError)) throw thrown;
      return err(thrown.message);
    }
  };
}

function without(host: Host, leftOut: readonly InterfaceStatus[]): Host {
  if (leftOut.length === 0) return host;
  const except = leftOut.flatMap(({ pciAddress }) => {
    const parsed = parsePciAddress(pciAddress);
    return parsed.ok ? [parsed.value] : [];
  });
  return { ...host, sriov: { ...host.sriov, listPfs: () => host.sriov.listPfs(except) } };
}

function withInterfaces(observation: Observation, leftOut: readonly InterfaceStatus[]): Observation {
  if (leftOut.length === 0) return observation;
  const interfaces = [...observation.interfaces, ...leftOut];
  return { ...observation, interfaces: interfaces.toSorted((a, b) => (a.pciAddress < b.pciAddress ? -1 : 1)) };
}
