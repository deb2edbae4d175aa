// SPDX-License-Identifier: Apache-2.0
/**
 * runVmBridgeDemo shows a NIC in switchdev mode behind an Open vSwitch bridge: a node in QEMU with systemd, Open vSwitch and
 * igbsw, which is igb with a simulated eswitch.
 */
import {
  applyPolicy,
  enableFeatureGate,
  namespace,
  policyIs,
  policySpec,
  type Narrator,
  type News,
  type TestCluster,
} from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { bootGuestNode, type GuestNode } from "@switchyard/vm-lab/guest-node";
import { runInGuest } from "./run-in-guest.ts";

/** Name of the node. */
export const bridgeNode = "vm-switch";
const pf = "0000:01:00.0";
const within = { withinMs: 240_000 };

/** Runs the scenes and returns the node, whose daemon has ended and which has no policies. */
export async function runVmBridgeDemo(testCluster: TestCluster, narrator: Narrator, news: News): Promise<GuestNode> {
  narrator.scene("A second node: systemd, Open vSwitch, and ports whose NIC has an eswitch");
  const worker = testCluster.use(await bootGuestNode(testCluster, bridgeNode, { boot: "systemd", driver: "igbsw" }));
  const shell = (command: string) => runInGuest(worker.guest, narrator, command);
  await shell(`devlink dev eswitch show pci/${pf}`);
  narrator.line(bridgeNode, "an administrator has a bridge of their own");
  await shell("ip link add user0 type dummy; ovs-vsctl add-br br-user -- add-port br-user user0");
  await enableFeatureGate(testCluster, "manageSoftwareBridges");
  const daemon = worker.startDaemon(["--manage-software-bridges"]);

  narrator.scene("One policy: switchdev mode, two VFs with representors, and a bridge with the port as its uplink");
  const selector = { rootDevices: [pf] };
  const switched = { numVfs: 2, resourceName: "switched", eSwitchMode: "switchdev", bridge: { ovs: {} } } as const;
  await applyPolicy(testCluster, "switched", {
    ...policySpec(selector, switched),
    nodeSelector: { "kubernetes.io/hostname": bridgeNode },
  });
  await policyIs(news, "switched", "Ready", within.withinMs);
  await shell(`devlink dev eswitch show pci/${pf}; ip -br link show type dummy; ip -br link | grep ^enp1s0f0`);
  await shell("ovs-vsctl show");

  narrator.scene("The policy is deleted: bridge, representors and VFs disappear, and the administrator's bridge stays");
  await testCluster.kubectl(["delete", "sriovnetworknodepolicy", "switched", "-n", namespace]);
  const isReset = (): boolean => {
    const { bridges, syncStatus, interfaces = [] } = news.states.get(bridgeNode)?.status ?? {};
    return bridges === undefined && syncStatus === "Succeeded" && interfaces.every(({ numVfs = 0 }) => numVfs === 0);
  };
  await eventually("the bridge is removed", isReset, within);
  await shell(`devlink dev eswitch show pci/${pf}; ovs-vsctl show`);
  daemon.kill("SIGTERM");
  await daemon.exitCode;
  return worker;
}
