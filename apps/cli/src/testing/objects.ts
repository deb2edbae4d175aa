// SPDX-License-Identifier: Apache-2.0
/** Objects of a small cluster, as they are written in files. */

const apiVersion = "sriovnetwork.openshift.io/v1";
const namespace = "sriov-network-operator";

export function node(name: string, labels: Readonly<Record<string, string>> = {}) {
  const worker = { "node-role.kubernetes.io/worker": "", "kubernetes.io/os": "linux" };
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels: { ...worker, ...labels } } };
}

/** One PF, ens1f0 at 0000:3b:00.0, with `numVfs` VFs of its kernel driver. */
export function state(name: string, numVfs = 0) {
  const Vfs = Array.from({ length: numVfs }, (_, vfID) => ({
    vfID,
    pciAddress: `0000:3b:02.${vfID}`,
    driver: "iavf",
    name: `ens1f0v${vfID}`,
    mtu: 1500,
  }));
  const pf = {
    name: "ens1f0",
    pciAddress: "0000:3b:00.0",
    vendor: "8086",
    deviceID: "158b",
    driver: "i40e",
    linkType: "ETH",
    linkAdminState: "up",
    mtu: 1500,
    totalvfs: 64,
    numVfs,
    Vfs,
  };
  return {
    apiVersion,
    kind: "SriovNetworkNodeState",
    metadata: { name, namespace },
    spec: {},
    status: { syncStatus: "Succeeded", interfaces: [pf] },
  };
}

export function policy(name: string, spec: Readonly<Record<string, unknown>> = {}) {
  const minimal = {
    resourceName: "nics",
    nodeSelector: { "node-role.kubernetes.io/worker": "" },
    numVfs: 4,
    nicSelector: { pfNames: ["ens1f0"] },
  };
  return { apiVersion, kind: "SriovNetworkNodePolicy", metadata: { name, namespace }, spec: { ...minimal, ...spec } };
}

export function network(name: string, spec: Readonly<Record<string, unknown>> = {}) {
  const metadata = { name, namespace };
  return { apiVersion, kind: "SriovNetwork", metadata, spec: { resourceName: "nics", ...spec } };
}
