// SPDX-License-Identifier: Apache-2.0
/**
 * Tests the connectivity guard on a real kernel. The only way of the guest to the API server is a PF of igb, and a udev rule of an
 * administrator sets this PF down as soon as it has VFs. REST_SECONDS is how long the node is watched for further steps after a change
 * was undone.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { GuestDaemon, GuestNode } from "@switchyard/vm-lab/guest-node";
import { applyPolicy, policyIs, policySpec, type NodeLog, type TestCluster } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { setTimeout as delay } from "node:timers/promises";
import { disposeOf } from "../src/dispose-of.ts";
import { startWatchedNode, type WatchedNode } from "../src/nodes/watched-node.ts";

const within = { withinMs: 240_000 };
const pf = "enp1s0f0";
const sysfs = "/sys/bus/pci/devices/0000:01:00.0";
/** Time without network after which the node must have undone the change. */
const connectivityTimeout = "10s";
const restSeconds = Number(process.env["REST_SECONDS"] ?? "60");
let watched: WatchedNode;
let testCluster: TestCluster;
let news: NodeLog;
let node: GuestNode;

beforeAll(async () => {
  watched = await startWatchedNode({ udev: true, igbNetwork: true });
  ({ testCluster, news, node } = watched);
  await inGuest(`ip link set lab0 down; ip link set ${pf} up`);
  await inGuest(`ip addr add 10.0.2.15/24 dev ${pf}; ip route add default via 10.0.2.2 dev ${pf}`);
  const rule = `SUBSYSTEM=="net", ACTION=="add", DRIVERS=="igbvf", RUN+="$(command -v ip) link set ${pf} down"`;
  await inGuest(
    `mkdir -p /etc/udev/rules.d; cat >/etc/udev/rules.d/99-cut.rules <<EOF\n${rule}\nEOF\nudevadm control --reload`,
  );
}, 900_000);

afterAll(async () => {
  await disposeOf(watched);
}, 60_000);

const inGuest = (command: string) => watched.inGuest(command);
const startDaemon = () => node.startDaemon(["--connectivity-timeout", connectivityTimeout]);
const rolledBack = () => news.states.get("vm")?.status?.conditions?.find(({ type }) => type === "RolledBack");
const numVfs = () => inGuest(`cat ${sysfs}/sriov_numvfs`);
const stepsIn = (daemon: GuestDaemon) =>
  daemon
    .log()
    .split("\n")
    .filter((line) => line.includes("step done")).length;

/** Causes passes of the daemon for restSeconds, and expects that none of them does anything. */
async function staysAtRest(daemon: GuestDaemon): Promise<void> {
  const steps = stepsIn(daemon);
  const endMs = performance.now() + 1_000 * restSeconds;
  while (performance.now() < endMs) {
    await inGuest("ip link set enp1s0f1 down; sleep 1; ip link set enp1s0f1 up");
    await delay(9_000);
  }
  expect([stepsIn(daemon), await numVfs(), rolledBack()?.status]).toEqual([steps, "0", "True"]);
}

describe("a PF that is the only way of the node to the API server", () => {
  it(
    "gets its former state back after a change that cuts the node off, and is not changed again for the same spec",
    async () => {
      const daemon = startDaemon();
      const since = inGuest(`until [ "$(cat ${sysfs}/sriov_numvfs)" = 2 ]; do :; done; date +%s`);
      await applyPolicy(testCluster, "cut", policySpec({ pfNames: [pf] }, { numVfs: 2, resourceName: "cut" }));
      const cutSeconds = Number(await since);
      await eventually("the node state has the condition RolledBack", () => rolledBack()?.status === "True", within);
      const { message, reason } = rolledBack() ?? {};
      expect(reason).toBe("ApiServerUnreachable");
      expect(message).toContain("set sriov_numvfs 0 -> 2 on 0000:01:00.0");
      expect(message).toContain("undone: set sriov_numvfs 2 -> 0 on 0000:01:00.0");
      expect(message).toContain("it works again");
      expect(await numVfs()).toBe("0");
      const time = news.states.get("vm")?.status?.interfaces?.find(({ rolledBack: undone }) => undone)
        ?.rolledBack?.time;
      console.log(`reachable again after ${Date.parse(time ?? "") / 1000 - cutSeconds} s`);
      await policyIs(news, "cut", "Degraded", within.withinMs);
      expect(JSON.stringify(news.policies.get("cut")?.status)).toContain("the node lost its network by this change");
      await staysAtRest(daemon);
      daemon.kill("SIGTERM");
      expect(await daemon.exitCode).toBe(0);
    },
    1_000 * restSeconds + 900_000,
  );

  it("is also given back by the next daemon, if the first is killed while the node is cut off", async () => {
    const first = startDaemon();
    const cut = `until [ "$(cat ${sysfs}/sriov_numvfs)" = 3 ] && ! ip link show ${pf} | grep -q ,UP; do :; done`;
    const killed = inGuest(`${cut}; pkill -KILL -f "[m]ain.mjs --kubeconfig"; echo killed`);
    await applyPolicy(testCluster, "cut", policySpec({ pfNames: [pf] }, { numVfs: 3, resourceName: "cut" }));
    expect(await killed).toBe("killed");
    await first.exitCode;
    expect(await numVfs()).toBe("3");
    const second = startDaemon();
    const isUndone = () => rolledBack()?.message.includes("set sriov_numvfs 0 -> 3") === true;
    await eventually("the condition RolledBack names the new change", isUndone, within);
    expect(await numVfs()).toBe("0");
    second.kill("SIGTERM");
    expect(await second.exitCode).toBe(0);
  }, 900_000);

  it("is changed when the spec changes to what does not cut it off", async () => {
    await inGuest("rm /etc/udev/rules.d/99-cut.rules; udevadm control --reload");
    const daemon = startDaemon();
    await applyPolicy(testCluster, "cut", policySpec({ pfNames: [pf] }, { numVfs: 4, resourceName: "cut" }));
    await policyIs(news, "cut", "Ready", within.withinMs);
    expect([await numVfs(), rolledBack()]).toEqual(["4", undefined]);
    expect(await inGuest("ls /etc/sriov-operator/connectivity-guard.json 2>&1")).toContain("No such file");
    daemon.kill("SIGTERM");
    expect(await daemon.exitCode).toBe(0);
  }, 900_000);
});
