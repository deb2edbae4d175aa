// SPDX-License-Identifier: Apache-2.0
/**
 * Node states and kernels that agree with them, for tests.
 * Usage: `const state = nodeState([pf({ vfGroups: [{ resourceName: "fast", vfRange: "0-1" }] })]); kernelOf(state)`.
 */
import type { InterfaceSpec, InterfaceStatus, SriovNetworkNodeState, VfStatus } from "@switchyard/api";
import type { KernelVf, KernelVfs } from "../kernel-vfs.ts";

/** A PF as wanted and as found. */
export interface Pf {
  readonly spec: InterfaceSpec;
  readonly status: InterfaceStatus;
}

/** An igb port with all the VFs that it shall have, configured, unless told otherwise. */
export function pf({ slot = 1, spec = {}, vfs = spec.numVfs ?? 4, vf = {}, status = {} }: PfOptions = {}): Pf {
  const pciAddress = `0000:0${slot}:00.0`;
  const Vfs = Array.from({ length: vfs }, (_, vfID) => ({
    pciAddress: `0000:0${slot}:10.${vfID}`,
    vfID,
    name: `v${vfID}`,
    driver: "igbvf",
    adminMac: "02:00:00:00:00:01",
    ...vf,
  }));
  return {
    spec: { pciAddress, numVfs: 4, vfGroups: [{ resourceName: "fast", vfRange: "0-3", policyName: "p" }], ...spec },
    status: {
      ...{ pciAddress, name: `ens${slot}`, linkType: "ETH", linkAdminState: "up", totalvfs: 8 },
      ...{ mtu: 1500, numVfs: vfs, eSwitchMode: "legacy", owned: true, Vfs },
      ...status,
    },
  };
}

export interface PfOptions {
  readonly slot?: number;
  readonly spec?: Partial<InterfaceSpec>;
  /** How many exist. */
  readonly vfs?: number;
  /** What each of them has. */
  readonly vf?: Partial<VfStatus>;
  readonly status?: Partial<InterfaceStatus>;
}

export function nodeState(
  pfs: readonly Pf[],
  status: Partial<SriovNetworkNodeState["status"]> = {},
): SriovNetworkNodeState {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1", generation: 1 },
    spec: { interfaces: pfs.map(({ spec }) => spec) },
    status: {
      interfaces: pfs.map((each) => each.status),
      syncStatus: "Succeeded",
      observedGeneration: 1,
      ...status,
    },
  };
}

/** What the status tells, but for `other`. */
export function kernelOf(state: SriovNetworkNodeState, other: Readonly<Record<string, KernelVf>> = {}): KernelVfs {
  const vfs = (state.status?.interfaces ?? []).flatMap(({ Vfs = [] }) => Vfs);
  const told = vfs.map(({ pciAddress, driver }) => {
    const vf: KernelVf = { ...(driver === undefined ? {} : { driver }), incarnation: "1.1" };
    return [pciAddress, vf] as const;
  });
  return new Map([...told, ...Object.entries(other)]);
}
