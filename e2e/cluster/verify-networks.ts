// SPDX-License-Identifier: Apache-2.0
/** Networks for `switchyard verify` on the guest: two VLANs, and networks whose pods have a fault (node/usr/lib/lab/lab-fault). */
import { namespace } from "./vf-pods.ts";

/** Faults of lab-fault: the layer that each breaks has the same name. */
export const pluginFaults = ["mtu", "vlan", "link", "mac", "route"] as const;

const group = { apiVersion: "sriovnetwork.openshift.io/v1" };
const home = "default";

/** A network of the resource "fast". Its pods get addresses of one subnet, whatever its VLAN. */
export function networkIn(vlan: number, { name, fault }: { readonly name: string; readonly fault?: string }) {
  return {
    ...group,
    kind: "SriovNetwork",
    metadata: { name, namespace },
    spec: {
      networkNamespace: home,
      resourceName: "fast",
      vlan,
      ipam: JSON.stringify({
        type: "host-local",
        dataDir: "/run/verify-addresses",
        ranges: [[{ subnet: "192.168.78.0/24" }]],
      }),
      ...(fault !== undefined && { metaPlugins: JSON.stringify({ type: "lab-fault", fault }) }),
    },
  };
}

/** A pool that requires another RDMA mode, on nodes that may not be drained for it. */
export const exclusivePool = {
  ...group,
  kind: "SriovNetworkPoolConfig",
  metadata: { name: "exclusive", namespace },
  spec: { nodeSelector: {}, rdmaMode: "exclusive", maxUnavailable: 0 },
};
