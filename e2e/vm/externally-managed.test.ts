// SPDX-License-Identifier: Apache-2.0
/**
 * Tests externally managed PFs on a real kernel with real VFs (igb in the VM lab), which the administrator creates, with a
 * real API server and the operator.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { GuestNode } from "@switchyard/vm-lab/guest-node";
import { applyPolicy, type NodeLog, policyIs, policySpec, type TestCluster } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { startWatchedNode, type WatchedNode } from "../src/nodes/watched-node.ts";

const pf = "0000:01:00.0";
const sysfs = `/sys/bus/pci/devices/${pf}`;
const within = { withinMs: 240_000 };
let watched: WatchedNode;
let testCluster: TestCluster;
let news: NodeLog;
let node: GuestNode;

beforeAll(async () => {
  watched = await startWatchedNode();
  ({ testCluster, news, node } = watched);
}, 900_000);

afterAll(async () => {
  await disposeOf(watched);
}, 60_000);

const inGuest = (command: string) => watched.inGuest(command);

const status = () => news.states.get("vm")?.status;
const pfStatus = () => status()?.interfaces?.find(({ pciAddress }) => pciAddress === pf);

function failsWith(text: string): Promise<unknown> {
  const fails = () => status()?.syncStatus === "Failed" && status()?.lastSyncError?.includes(text);
  return eventually(`the node state has "${text}"`, fails, within);
}

/** The number of VFs, the drivers of VFs, and the MTU of the PF. */
function seen(): Promise<string> {
  const drivers = `for n in 0 1 2; do basename $(readlink ${sysfs}/virtfn$n/driver); done`;
  return inGuest(`cat ${sysfs}/sriov_numvfs; ${drivers}; cat /sys/class/net/enp1s0f0/mtu`);
}

describe("an externally managed PF with real VFs", () => {
  it("fails until the administrator has created the VFs, then lends VFs, and keeps them without the policy", async () => {
    const daemon = node.startDaemon();
    const settings = {
      numVfs: 3,
      mtu: 2_000,
      resourceName: "lent",
      externallyManaged: true,
      deviceType: "vfio-pci",
    } as const;
    const policy = policySpec({ pfNames: ["enp1s0f0#1-1"] }, settings);
    await applyPolicy(testCluster, "lent", policy);
    await failsWith(`3 VFs requested, but ${pf} is externally managed and has 0`);
    await policyIs(news, "lent", "Degraded", within.withinMs);
    expect(await inGuest(`cat ${sysfs}/sriov_numvfs`)).toBe("0");

    await inGuest(`modprobe igbvf; echo 3 > ${sysfs}/sriov_numvfs`);
    await failsWith(`MTU 2000 requested, but ${pf} is externally managed and has MTU 1500`);
    await inGuest("ip link set enp1s0f0 mtu 2000");
    await policyIs(news, "lent", "Ready", within.withinMs);
    const lent = "3\nigbvf\nvfio-pci\nigbvf\n2000";
    expect(await seen()).toBe(lent);

    for (const externallyManaged of [false, true]) {
      await applyPolicy(testCluster, "lent", { ...policy, externallyManaged });
      await eventually(
        `externallyManaged is ${externallyManaged}`,
        () => (pfStatus()?.externallyManaged === true) === externallyManaged,
        within,
      );
      expect(await seen()).toBe(lent);
    }
    await testCluster.kubectl(["delete", "sriovnetworknodepolicies", "--all"]);
    await eventually("the PF is released", async () => (await inGuest("ls /etc/sriov-operator/pci")) === "", within);
    expect(await seen()).toBe(lent);
    daemon.kill("SIGTERM");
    expect(await daemon.exitCode).toBe(0);
  }, 900_000);
});
