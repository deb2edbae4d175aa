// SPDX-License-Identifier: Apache-2.0
/**
 * Tests the config daemon on a real kernel with real VFs (igb in the VM lab), with a real API server and the operator.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { GuestDaemon, GuestNode } from "@switchyard/vm-lab/guest-node";
import { applyPolicy, type NodeLog, policyIs, policySpec, type TestCluster } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { startWatchedNode, type WatchedNode } from "../src/nodes/watched-node.ts";

const sysfs = "/sys/bus/pci/devices/0000:01:00.0";
const within = { withinMs: 180_000 };
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

const wanted = { numVfs: 3, mtu: 9000, resourceName: "fast" };

async function applyWanted(): Promise<void> {
  await applyPolicy(testCluster, "fast", policySpec({ pfNames: ["enp1s0f0#0-1"] }, wanted));
  const userSpace = { ...wanted, deviceType: "vfio-pci", resourceName: "dpdk" } as const;
  await applyPolicy(testCluster, "dpdk", policySpec({ pfNames: ["enp1s0f0#2-2"] }, userSpace));
}

async function reset(): Promise<void> {
  await testCluster.kubectl(["delete", "sriovnetworknodepolicies", "--all"]);
  const isReset = async () => (await inGuest(`ls /etc/sriov-operator/pci; cat ${sysfs}/sriov_numvfs`)) === "0";
  await eventually("the PF is reset", isReset, within);
}

async function stop(daemon: GuestDaemon): Promise<void> {
  daemon.kill("SIGTERM");
  expect(await daemon.exitCode).toBe(0);
}

/**
 * Reads the state of the kernel: the number of VFs, MTUs, drivers, and whether the PF shows the address of each VF that
 * has an interface.
 */
async function seen() {
  const drivers = `for n in 0 1 2; do basename $(readlink ${sysfs}/virtfn$n/driver); done`;
  const mtus = "cat /sys/class/net/enp1s0f0/mtu /sys/class/net/enp1s0f0v0/mtu /sys/class/net/enp1s0f0v1/mtu";
  const addresses = "for n in 0 1; do ip link show enp1s0f0 | grep -c $(cat /sys/class/net/enp1s0f0v$n/address); done";
  return {
    count: await inGuest(`cat ${sysfs}/sriov_numvfs`),
    drivers: (await inGuest(drivers)).split("\n"),
    mtus: (await inGuest(mtus)).split("\n"),
    known: (await inGuest(addresses)).split("\n"),
  };
}

const asWanted = {
  count: "3",
  drivers: ["igbvf", "igbvf", "vfio-pci"],
  mtus: ["9000", "9000", "9000"],
  known: ["1", "1"],
};

describe("the daemon on igb", () => {
  it("creates the VFs that the policies request, and resets the PF", async () => {
    const daemon = node.startDaemon();
    await applyWanted();
    await policyIs(news, "fast", "Ready", within.withinMs);
    await policyIs(news, "dpdk", "Ready", within.withinMs);
    expect(await seen()).toEqual(asWanted);
    await reset();
    expect(await inGuest("cat /sys/class/net/enp1s0f0/mtu")).toBe("1500");
    await stop(daemon);
  }, 600_000);

  it.each([
    { point: "it has recorded what it will own", when: "[ -e /etc/sriov-operator/pci/0000:01:00.0 ]" },
    { point: "the VFs are there", when: `[ "$(cat ${sysfs}/sriov_numvfs)" = 3 ]` },
    { point: "one VF has its MTU", when: `[ "$(cat /sys/class/net/enp1s0f0v0/mtu 2>/dev/null)" = 9000 ]` },
  ])(
    "converges after a SIGKILL when $point",
    async ({ when }) => {
      const first = node.startDaemon();
      const killed = inGuest(`until ${when}; do :; done; pkill -KILL -f "[m]ain.mjs --kubeconfig"; echo killed`);
      await applyWanted();
      expect(await killed).toBe("killed");
      await first.exitCode;
      const second = node.startDaemon();
      await policyIs(news, "fast", "Ready", within.withinMs);
      await policyIs(news, "dpdk", "Ready", within.withinMs);
      expect(await seen()).toEqual(asWanted);
      await reset();
      await stop(second);
    },
    600_000,
  );

  it("runs one daemon per node; the node state reports that the second one waits, and for which process", async () => {
    const first = node.startDaemon();
    const lock = "/run/switchyard/config-daemon.lock";
    // The lock file remains after a daemon has ended, so the process that it names must run.
    const holder = `pid=$(sed -n 's/.*"pid":\\([0-9]*\\).*/\\1/p' ${lock}); grep -c main.mjs /proc/$pid/cmdline || true`;
    await eventually("the first daemon has the lock", async () => (await inGuest(holder)) === "1", within);
    expect(await inGuest(`stat -c '%a %u' ${lock} /run/switchyard`)).toBe("600 0\n700 0");
    const second = node.startDaemon();
    await eventually(
      "the second daemon waits",
      () => second.log().includes("another process has the lock of this node"),
      within,
    );
    const waiting = () => news.states.get("vm")?.status?.conditions?.find(({ type }) => type === "WaitingForLock");
    await eventually("the node state has the condition WaitingForLock", waiting, within);
    const { pid } = JSON.parse(await inGuest(`cat ${lock}`)) as { pid: number };
    expect(waiting()?.message).toContain(`${lock} is held by process ${pid} since `);
    first.kill("SIGKILL"); // the kernel releases its lock
    expect(await first.exitCode).not.toBe(0);
    await eventually(
      "the second daemon works",
      () => waiting() === undefined && second.log().includes("started"),
      within,
    );
    const third = node.startDaemon();
    await eventually("the third daemon waits", waiting, within);
    await stop(third);
    await eventually("no daemon waits", () => waiting() === undefined, within);
    await stop(second);
  }, 300_000);
});
