// SPDX-License-Identifier: Apache-2.0
/**
 * Tests the main function of the product on a real kernel in less than three minutes. Every change must pass this test.
 * The other files of this directory test the same in depth.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  applyPolicy,
  createOperatorConfig,
  policyIs,
  policySpec,
  silentNarrator,
  startTestCluster,
  logNodeChanges,
  type NodeLog,
  type TestCluster,
} from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { bootGuestNode, type GuestNode } from "@switchyard/vm-lab/guest-node";
import { disposeOf } from "../src/dispose-of.ts";

const pf = "/sys/bus/pci/devices/0000:01:00.0";
/** Guests are slow without hardware virtualization, and slower on a loaded machine. */
const withinMs = 180_000;

let cluster: TestCluster;
let news: NodeLog;
let node: GuestNode;

beforeAll(async () => {
  cluster = await startTestCluster(silentNarrator);
  await createOperatorConfig(cluster);
  news = cluster.use(logNodeChanges(cluster.transport, silentNarrator));
  node = cluster.use(await bootGuestNode(cluster, "vm-worker")); // builds the image unless it is cached
}, 900_000);

afterAll(async () => {
  await disposeOf(cluster);
}, 60_000);

async function inGuest(command: string): Promise<string> {
  const { stdout } = await node.guest.exec(command, { timeoutMs: withinMs });
  return stdout.trim();
}

describe("a node on a real kernel", () => {
  it("boots with two SR-IOV ports that have the names of udev", async () => {
    expect(await inGuest("ls /sys/bus/pci/drivers/igb | grep :")).toBe("0000:01:00.0\n0000:01:00.1");
    expect(await inGuest(`ls ${pf}/net`)).toBe("enp1s0f0");
  }, 300_000);

  it("gets the VFs, MTU and drivers of its policies, and is reset after they are deleted", async () => {
    const daemon = node.startDaemon();
    await applyPolicy(
      cluster,
      "fast",
      policySpec({ pfNames: ["enp1s0f0#0-2"] }, { numVfs: 4, mtu: 9000, resourceName: "fast" }),
    );
    await applyPolicy(
      cluster,
      "dpdk",
      policySpec({ pfNames: ["enp1s0f0#3-3"] }, { numVfs: 4, mtu: 9000, deviceType: "vfio-pci", resourceName: "dpdk" }),
    );
    await policyIs(news, "fast", "Ready", withinMs);
    await policyIs(news, "dpdk", "Ready", withinMs);
    expect(await inGuest(`cat ${pf}/sriov_numvfs /sys/class/net/enp1s0f0/mtu`)).toBe("4\n9000");
    expect(await inGuest(`for vf in 0 1 2 3; do basename $(readlink ${pf}/virtfn$vf/driver); done`)).toBe(
      "igbvf\nigbvf\nigbvf\nvfio-pci",
    );

    await cluster.kubectl(["delete", "sriovnetworknodepolicies", "--all"]);
    const isReset = async () => (await inGuest(`cat ${pf}/sriov_numvfs /sys/class/net/enp1s0f0/mtu`)) === "0\n1500";
    await eventually("the PF is reset", isReset, { withinMs });
    daemon.kill("SIGTERM");
    expect(await daemon.exitCode).toBe(0);
  }, 600_000);

  it("reports a kernel panic with the last lines of the console", async () => {
    const panicking = node.guest.exec("echo c >/proc/sysrq-trigger", { timeoutMs: withinMs });
    await expect(panicking).rejects.toMatchObject({
      code: "guest-panicked",
      output: expect.stringContaining("sysrq triggered crash"),
    });
  }, 300_000);
});
