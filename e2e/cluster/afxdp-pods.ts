// SPDX-License-Identifier: Apache-2.0
/**
 * A user's side of AF_XDP: a policy for one port of igb, a network, and the pod of the guide that receives packets with DPDK's testpmd.
 */
import { isRecord } from "@switchyard/kube";
import { findWorkspaceRoot } from "@switchyard/testing";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { KubeCluster } from "./kube-cluster.ts";
import { namespace } from "./vf-pods.ts";

/** The port that pods get, and its name on the host. */
export const [pf, device] = ["0000:01:00.1", "enp1s0f1"] as const;
/** The port that sends packets to it. */
const sender = "enp1s0f0";
/** As in the guide. */
export const [pool, tenant] = ["intelnics", "tenant-a"] as const;

const group = { apiVersion: "afxdpnetwork.hns.dev/v1alpha1" };

/** testpmd reads one queue. */
export const policy = {
  ...group,
  kind: "AfxdpNetworkNodePolicy",
  metadata: { name: "intel-nics", namespace },
  spec: {
    nodeSelector: { "node-role.kubernetes.io/worker": "" },
    nicSelector: { rootDevices: [pf] },
    poolName: pool,
    uid: 1500,
    queues: 1,
  },
};

export const network = {
  ...group,
  kind: "AfxdpNetwork",
  metadata: { name: "fast-path", namespace },
  spec: { poolName: pool, networkNamespace: tenant },
};

/** The example of docs/guide/afxdp.md, with another name and image. */
export function testpmdPod(name: string, image: string): object {
  const guide = readFileSync(join(findWorkspaceRoot(), "docs/guide/afxdp.md"), "utf8");
  const [, text = ""] = /## Example pod for DPDK.*?```yaml\n(.*?)```/s.exec(guide) ?? [];
  const pod: unknown = parse(text);
  if (!isRecord(pod) || !isRecord(pod["metadata"]) || !isRecord(pod["spec"])) throw new Error("the guide has no pod");
  const { spec, metadata } = pod;
  const [container, ...more] = Array.isArray(spec["containers"]) ? (spec["containers"] as object[]) : [];
  if (container === undefined || more.length > 0) throw new Error("the pod of the guide has other than one container");
  return {
    ...pod,
    metadata: { ...metadata, name },
    spec: { ...spec, terminationGracePeriodSeconds: 1, containers: [{ ...container, image }] },
  };
}

/** Returns the number of packets in the last report of testpmd, 0 before the first. */
export async function receivedPackets(cluster: KubeCluster, name: string): Promise<number> {
  const log = await cluster.kubectl(["logs", "-n", tenant, name, "--tail=100"]);
  return Number(/.*RX-packets: (\d+)/s.exec(log)?.[1] ?? "0");
}

/** Sends a packet to all receivers every 200 ms. Pods without an address get it, too. */
export function sendPackets(cluster: KubeCluster): Promise<string> {
  const neighbour = `ip neigh replace 192.0.2.77 lladdr ff:ff:ff:ff:ff:ff dev ${sender}`;
  const loop = "while sleep 0.2; do echo hello >/dev/udp/192.0.2.77/9; done";
  return cluster.inGuest(
    `ip link set ${sender} up; ip address add 192.0.2.1/24 dev ${sender}; ${neighbour}; systemd-run --unit=sender bash -c '${loop}'`,
  );
}
