// SPDX-License-Identifier: Apache-2.0
/** Creates NodeStates, and kernels that match them, for tests. */
import {
  defined,
  type InterfaceSpec,
  type InterfaceStatus,
  type SriovNetworkNodeState,
  type VfStatus,
} from "@switchyard/api";
import type { PciBinding } from "@switchyard/host/sysfs";
import type { KernelVfs } from "../plugin-config.ts";

/** A PF in the spec and in the status. */
export interface Pf {
  readonly spec: InterfaceSpec;
  readonly status: InterfaceStatus;
}

/** Returns an igb port whose VFs are configured as its spec requires. The options change single fields. */
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
      pciAddress,
      name: `ens${slot}`,
      linkType: "ETH",
      linkAdminState: "up",
      totalvfs: 8,
      mtu: 1500,
      numVfs: vfs,
      eSwitchMode: "legacy",
      owned: true,
      Vfs,
      ...status,
    },
  };
}

export interface PfOptions {
  readonly slot?: number;
  readonly spec?: Partial<InterfaceSpec>;
  /** Number of existing VFs. */
  readonly vfs?: number;
  /** Fields of each VF. */
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

/** Returns a kernel that matches the status, except for the VFs in `other`. */
export function kernelOf(state: SriovNetworkNodeState, other: Readonly<Record<string, PciBinding>> = {}): KernelVfs {
  const vfs = (state.status?.interfaces ?? []).flatMap(({ Vfs = [] }) => Vfs);
  const inStatus = vfs.map(({ pciAddress, driver }): readonly [string, PciBinding] => {
    return [pciAddress, { ...defined({ driver }), incarnation: "1.1" }];
  });
  return new Map([...inStatus, ...Object.entries(other)]);
}
