// SPDX-License-Identifier: Apache-2.0
/**
 * runVmDemo shows policies on a real kernel: a node in QEMU with two SR-IOV ports (igb), whose daemon connects to the API
 * server on this machine. What it starts runs until the test cluster ends.
 */
import {
  applyPolicy,
  createOperatorConfig,
  eachNode,
  enableFeatureGate,
  namespace,
  policyIs,
  policySpec,
  logNodeChanges,
  type Narrator,
  type NodeLog,
  type TestCluster,
} from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import type { Guest } from "@switchyard/vm-lab";
import { bootGuestNode, type GuestNode } from "@switchyard/vm-lab/guest-node";

/** Name of the node. */
const bridgeNode = "vm-switch";

const pf = "0000:01:00.0";

const within = { withinMs: 240_000 };

const withinMs = 300_000;

const node = "vm-worker";
const sysfs = "/sys/bus/pci/devices/0000:01:00.0";

/** Runs all scenes. Rejects when a step does not succeed in time. */
export async function runVmDemo(testCluster: TestCluster, narrator: Narrator): Promise<void> {
  narrator.scene("One node with a real kernel: QEMU with two ports of an Intel 82576 (igb)");
  const worker = testCluster.use(await bootGuestNode(testCluster, node));
  const { guest } = worker;
  await runInGuest(guest, narrator, "uname -rv; ip -br link");

  await createOperatorConfig(testCluster);
  const news = testCluster.use(logNodeChanges(testCluster.transport, narrator));
  narrator.line(node, "config-daemon starts in the guest");
  worker.startDaemon();
  const deadline = { nodes: 1, withinMs: 120_000 };
  await eachNode(news, deadline, "discovered", ({ status }) => (status?.interfaces ?? []).length > 0);

  narrator.scene("Policies configure four VFs with MTU 9000; VF 3 is for user space");
  const kernelOnly = { numVfs: 4, mtu: 9000, resourceName: "fast" };
  await applyPolicy(testCluster, "fast", policySpec({ pfNames: ["enp1s0f0#0-2"] }, kernelOnly));
  const userSpace = { numVfs: 4, deviceType: "vfio-pci", resourceName: "dpdk" } as const;
  await applyPolicy(testCluster, "dpdk", policySpec({ pfNames: ["enp1s0f0#3-3"] }, userSpace));
  await policyIs(news, "fast", "Ready", deadline.withinMs);
  await policyIs(news, "dpdk", "Ready", deadline.withinMs);
  await runInGuest(
    guest,
    narrator,
    `cat ${sysfs}/sriov_numvfs; ip -br link; ls -l /sys/bus/pci/drivers/vfio-pci | grep 0000:`,
  );
  await testCluster.kubectl(["get", "sriovnetworknodepolicies,sriovnetworknodestates"]);

  narrator.scene("An administrator unbinds the driver of a VF; the daemon detects and repairs it");
  await runInGuest(guest, narrator, "echo 0000:01:10.0 > /sys/bus/pci/drivers/igbvf/unbind");
  await runInGuest(guest, narrator, "until readlink /sys/bus/pci/devices/0000:01:10.0/driver; do sleep 0.1; done");

  narrator.scene("A policy requests more VFs than the NIC supports; the daemon changes nothing and reports why");
  await applyPolicy(
    testCluster,
    "greedy",
    policySpec({ pfNames: ["enp1s0f1"] }, { numVfs: 9, resourceName: "greedy" }),
  );
  await policyIs(news, "greedy", "Degraded", deadline.withinMs);

  narrator.scene("All policies are deleted: the NIC is reset");
  await testCluster.kubectl(["delete", "sriovnetworknodepolicies", "--all"]);
  await eachNode(news, deadline, "no VFs", ({ status }) => {
    const isReset = status?.interfaces?.every(({ numVfs = 0, mtu }) => numVfs === 0 && mtu !== 9000);
    return isReset === true && status?.syncStatus === "Succeeded";
  });
  await runInGuest(guest, narrator, `cat ${sysfs}/sriov_numvfs; ip -br link`);
  const second = await runVmBridgeDemo(testCluster, narrator, news);
  await runVmBootDemo(second, testCluster, narrator, news);
}

/**
 * runVmBootDemo shows a node in systemd mode: it reboots for a policy, and its VFs exist before a kubelet would start.
 * Runs the scene on the node of runVmBridgeDemo, without a daemon and without policies.
 */
async function runVmBootDemo(worker: GuestNode, testCluster: TestCluster, narrator: Narrator, news: NodeLog) {
  narrator.scene("systemd mode: the node is drained and reboots, and its VFs exist before a kubelet would start");
  const shell = (command: string) => runInGuest(worker.guest, narrator, command);
  narrator.line(bridgeNode, "config-daemon --use-systemd-service=true starts in the guest");
  const first = worker.startDaemon(["--use-systemd-service=true"]);
  await applyPolicy(testCluster, "early", {
    ...policySpec({ rootDevices: ["0000:01:00.0"] }, { numVfs: 4, resourceName: "early" }),
    nodeSelector: { "kubernetes.io/hostname": bridgeNode },
  });
  const isRebooting = (): boolean => {
    const { conditions = [] } = news.states.get(bridgeNode)?.status ?? {};
    return conditions.some(({ type, reason }) => type === "Ready" && reason === "Rebooting");
  };
  await eventually("the node reports that it reboots", isRebooting, { withinMs });
  const rebooted = worker.guest.nextBoot();
  await worker.guest.exec("until [ -e /etc/sriov-operator/reboot.json ]; do sleep 0.1; done").catch(() => undefined);
  first.kill("SIGTERM"); // in a pod, the container runtime stops it during the shutdown
  await rebooted;
  narrator.line(bridgeNode, "has rebooted; no daemon has run since");
  await shell("journalctl -b -o cat -u sriov-config.service -u sriov-config-post-network.service");
  await shell("cat /etc/sriov-operator/sriov-interface-result.yaml");
  await shell("cat /sys/bus/pci/devices/0000:01:00.0/sriov_numvfs; ip -br link | grep ^enp1s0f0");

  narrator.line(bridgeNode, "config-daemon starts again and reports what the boot has configured");
  worker.startDaemon(["--use-systemd-service=true"]);
  await policyIs(news, "early", "Ready", withinMs);
}

/**
 * runVmBridgeDemo shows a NIC in switchdev mode behind an Open vSwitch bridge: a node in QEMU with systemd, Open vSwitch and
 * igbsw, which is igb with a simulated eswitch. Runs the scenes and returns the node, whose daemon has ended and which has no
 * policies.
 */
async function runVmBridgeDemo(testCluster: TestCluster, narrator: Narrator, news: NodeLog): Promise<GuestNode> {
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
  await showRefusal(worker, testCluster, narrator, news);
  daemon.kill("SIGTERM");
  await daemon.exitCode;
  return worker;
}

/** Shows a number of VFs that the driver refuses: its reason, and the former VFs. The policy is deleted afterwards. */
async function showRefusal(
  worker: GuestNode,
  testCluster: TestCluster,
  narrator: Narrator,
  news: NodeLog,
): Promise<void> {
  narrator.scene("The driver refuses a number of VFs: the node says why, and the former VFs are back");
  const shell = (command: string) => runInGuest(worker.guest, narrator, command);
  const ask = (numVfs: number) =>
    applyPolicy(testCluster, "refused", {
      ...policySpec({ rootDevices: [pf] }, { numVfs, resourceName: "refused" }),
      nodeSelector: { "kubernetes.io/hostname": bridgeNode },
    });
  await ask(2);
  await policyIs(news, "refused", "Ready", within.withinMs);
  narrator.line(bridgeNode, "from now on, the driver has interrupts for 4 VFs only");
  await shell("echo 4 > /sys/module/igbsw/parameters/lab_refuse_above");
  await ask(6);
  const isRefused = (): boolean => news.states.get(bridgeNode)?.status?.lastSyncError?.includes("ENOSPC") === true;
  await eventually("the node says why", isRefused, within);
  await policyIs(news, "refused", "Degraded", within.withinMs);
  await shell(`cat /sys/bus/pci/devices/${pf}/sriov_numvfs; ip -br link | grep ^enp1s0f0`);
  await shell("echo 0 > /sys/module/igbsw/parameters/lab_refuse_above");
  await testCluster.kubectl(["delete", "sriovnetworknodepolicy", "refused", "-n", namespace]);
  const hasNoVfs = (): boolean => {
    const { syncStatus, interfaces = [] } = news.states.get(bridgeNode)?.status ?? {};
    return syncStatus === "Succeeded" && interfaces.every(({ numVfs = 0 }) => numVfs === 0);
  };
  await eventually("the PF is reset", hasNoVfs, within);
}

/** Runs a command in the guest, and prints the command and its output. */
export async function runInGuest(guest: Guest, narrator: Narrator, command: string): Promise<void> {
  narrator.line("in the VM", command);
  const { stdout, stderr } = await guest.exec(command, { timeoutMs: 120_000 });
  if (stdout + stderr !== "") narrator.output(stdout + stderr);
}
