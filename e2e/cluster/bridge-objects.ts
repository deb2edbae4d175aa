// SPDX-License-Identifier: Apache-2.0
/**
 * A user's side of software bridges: policies that create a bridge for the PF of the guest, networks with VLANs on it, and
 * Deployments whose pods have a VF of these networks.
 */
import { namespace } from "./vf-pods.ts";

const group = { apiVersion: "sriovnetwork.openshift.io/v1" };

/** PF, its interface, and the bridge that is named after it. */
export const pf = "0000:01:00.0";
export const uplink = "enp1s0f0np0";
export const bridge = "br-0000_01_00.0";

/** Resource of the VFs, as nodes and pods have it. */
export const resource = "openshift.io/switched";
/** Number of VFs of the policies. */
export const numVfs = 3;

/** Two pods in VLAN 100, and one in VLAN 200. Their addresses are in one network, so only the VLANs divide them. */
export const blue = { app: "blue", network: "blue", resource, replicas: 2 } as const;
export const red = { app: "red", network: "red", resource, replicas: 1 } as const;
export const vlans = { blue: 100, red: 200 } as const;

/** `settings` is the policy's field `bridge`. */
export function policyWithBridge(settings: object) {
  return {
    ...group,
    kind: "SriovNetworkNodePolicy",
    metadata: { name: "switched", namespace },
    spec: {
      nodeSelector: { "node-role.kubernetes.io/worker": "" },
      nicSelector: { pfNames: [uplink] },
      numVfs,
      eSwitchMode: "switchdev",
      bridge: settings,
      resourceName: "switched",
    },
  };
}

/** Returns both networks, of the kind OVSNetwork or BridgeNetwork. */
export function networksOf(kind: "OVSNetwork" | "BridgeNetwork") {
  const first = { blue: 10, red: 50 } as const;
  return (["blue", "red"] as const).map((name) => ({
    ...group,
    kind,
    metadata: { name, namespace },
    spec: {
      networkNamespace: "default",
      resourceName: "switched",
      vlan: vlans[name],
      ipam: JSON.stringify({
        type: "host-local",
        dataDir: "/run/vf-addresses",
        ranges: [[{ subnet: "192.168.77.0/24", rangeStart: `192.168.77.${first[name]}` }]],
      }),
    },
  }));
}
