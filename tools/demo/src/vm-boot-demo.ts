// SPDX-License-Identifier: Apache-2.0
/**
 * runVmBootDemo shows a node in systemd mode: it reboots for a policy, and its VFs exist before a kubelet would start.
 */
import {
  applyPolicy,
  policyIs,
  policySpec,
  type Narrator,
  type News,
  type TestCluster,
} from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import type { GuestNode } from "@switchyard/vm-lab/guest-node";
import { runInGuest } from "./run-in-guest.ts";
import { bridgeNode } from "./vm-bridge-demo.ts";

const withinMs = 300_000;

/** Runs the scene on the node of runVmBridgeDemo, without a daemon and without policies. */
export async function runVmBootDemo(worker: GuestNode, testCluster: TestCluster, narrator: Narrator, news: News) {
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
