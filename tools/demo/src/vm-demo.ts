// SPDX-License-Identifier: Apache-2.0
/**
 * runVmDemo shows policies on a real kernel: a node in QEMU with two SR-IOV ports (igb), whose daemon connects to the API
 * server on this machine. What it starts runs until the test cluster ends.
 */
import { bootGuestNode } from "@switchyard/vm-lab/guest-node";
import {
  applyPolicy,
  createOperatorConfig,
  type TestCluster,
  eachNode,
  type Narrator,
  policyIs,
  policySpec,
  watchNews,
} from "@switchyard/test-cluster";
import { runInGuest } from "./run-in-guest.ts";
import { runVmBootDemo } from "./vm-boot-demo.ts";
import { runVmBridgeDemo } from "./vm-bridge-demo.ts";

const node = "vm-worker";
const sysfs = "/sys/bus/pci/devices/0000:01:00.0";

/** Runs all scenes. Rejects when a step does not succeed in time. */
export async function runVmDemo(testCluster: TestCluster, narrator: Narrator): Promise<void> {
  narrator.scene("One node with a real kernel: QEMU with two ports of an Intel 82576 (igb)");
  const worker = testCluster.use(await bootGuestNode(testCluster, node));
  const { guest } = worker;
  await runInGuest(guest, narrator, "uname -rv; ip -br link");

  await createOperatorConfig(testCluster);
  const news = testCluster.use(watchNews(testCluster.transport, narrator));
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
