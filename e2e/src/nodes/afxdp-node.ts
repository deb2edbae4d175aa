// SPDX-License-Identifier: Apache-2.0
/**
 * startAfxdpNode starts a watched cluster with one node on a real kernel whose NICs can have subfunctions (igbsw in the VM lab), and
 * an AfxdpOperatorConfig.
 */
import { expect } from "@jest/globals";
import type { AfxdpNetworkNodePolicySpec } from "@switchyard/api";
import { isRecord } from "@switchyard/kube";
import { namespace } from "@switchyard/test-cluster";
import type { MachineOptions } from "@switchyard/vm-lab";
import type { GuestNode } from "@switchyard/vm-lab/guest-node";
import { startWatchedNode, type WatchedNode } from "./watched-node.ts";
import { eventuallyMatches } from "../api/plain-api.ts";

/** The PF that the policy selects. */
export const pf = "0000:01:00.0";
export const pciDevice = `pci/${pf}`;
export const withinMs = 240_000;

export interface AfxdpNode extends WatchedNode {
  /** Applies the policy "fast" for the PF. */
  setPolicy(spec: Partial<AfxdpNetworkNodePolicySpec>): Promise<void>;
  /** Waits until the status of an object ("afxdpnetworknodestate/vm") matches. The error shows the last difference. */
  reports(object: string, expected: object): Promise<void>;
  /** What a status with this condition matches. */
  isTrue(type: string): object;
  policyIsReady(): Promise<void>;
  /** The subfunctions of the kernel: sfnum, MTU, MAC address and state of the interface. */
  subfunctions(): Promise<readonly string[]>;
  startDaemon(flags?: readonly string[]): ReturnType<GuestNode["startDaemon"]>;
}

/** Prints what subfunctions() returns. */
export const listSubfunctions = [
  'for d in /sys/bus/auxiliary/devices/*.sf.*; do [ -e "$d" ] || continue; n=$(ls $d/net)',
  "echo $(cat $d/sfnum) $(cat /sys/class/net/$n/mtu) $(cat /sys/class/net/$n/address) $(cat /sys/class/net/$n/operstate)",
  "done | sort -n",
].join("; ");

/** The MAC addresses of subfunctions(). */
export const macsOf = (found: readonly string[]) => found.map((one) => one.split(" ")[2] ?? "");

/** Rejects if the cluster cannot be started, or the guest not booted. */
export async function startAfxdpNode(
  machine: MachineOptions,
  options?: Parameters<typeof startWatchedNode>[1],
): Promise<AfxdpNode> {
  const watched = await startWatchedNode({ driver: "igbsw", ...machine }, options);
  const { testCluster, node } = watched;

  async function apply(kind: string, name: string, spec: object): Promise<void> {
    const object = { apiVersion: "afxdpnetwork.hns.dev/v1alpha1", kind, metadata: { name, namespace }, spec };
    await testCluster.kubectl(["apply", "-f", "-"], object);
  }

  /** The status of an object; {} if it has none. */
  async function statusOf(object: string): Promise<Readonly<Record<string, unknown>>> {
    const read: unknown = JSON.parse(await testCluster.kubectl(["get", object, "-o", "json"]));
    const status = isRecord(read) ? read["status"] : undefined;
    return isRecord(status) ? status : {};
  }

  function reports(object: string, expected: object): Promise<void> {
    return eventuallyMatches(object, () => statusOf(object), expected, withinMs);
  }

  const isTrue = (type: string) => ({
    conditions: expect.arrayContaining([expect.objectContaining({ type, status: "True" })]),
  });
  await apply("AfxdpOperatorConfig", "default", {});
  return {
    ...watched,
    reports,
    isTrue,
    setPolicy: (spec) =>
      apply("AfxdpNetworkNodePolicy", "fast", {
        poolName: "fast",
        nodeSelector: {},
        nicSelector: { rootDevices: [pf] },
        ...spec,
      }),
    policyIsReady: () => reports("afxdpnetworknodepolicy/fast", isTrue("Ready")),
    async subfunctions() {
      const found = await watched.inGuest(listSubfunctions);
      return found === "" ? [] : found.split("\n");
    },
    startDaemon: (flags) => node.startDaemon(flags),
  };
}
