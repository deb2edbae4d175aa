// SPDX-License-Identifier: Apache-2.0
/**
 * Tests Open vSwitch bridges of policies on a real kernel: the kernel datapath of Open vSwitch, igbsw (igb with a simulated
 * eswitch), systemd, a real API server and the operator.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { GuestNode } from "@switchyard/vm-lab/guest-node";
import {
  applyPolicy,
  enableFeatureGate,
  namespace,
  policyIs,
  policySpec,
  type NodeLog,
  type TestCluster,
} from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { startWatchedNode, type WatchedNode } from "../src/nodes/watched-node.ts";

const within = { withinMs: 240_000 };
const bridge = "br-0000_01_00.0";
const uplink = "enp1s0f0np0";
const flags = ["--manage-software-bridges", "--ovsdb-socket-path", "unix:///var/run/openvswitch/db.sock"];
let watched: WatchedNode;
let testCluster: TestCluster;
let news: NodeLog;
let node: GuestNode;

beforeAll(async () => {
  watched = await startWatchedNode({ boot: "systemd", driver: "igbsw" });
  ({ testCluster, news, node } = watched);
  await enableFeatureGate(testCluster, "manageSoftwareBridges");
  await eventually("Open vSwitch runs", async () => (await inGuest("ovs-vsctl -t 5 show || true")) !== "", within);
  await inGuest("ip link add user0 type dummy; ovs-vsctl add-br br-user -- add-port br-user user0");
}, 900_000);

afterAll(async () => {
  await disposeOf(watched);
}, 60_000);

const inGuest = (command: string) => watched.inGuest(command);

/** Returns all bridges with the names of their ports. */
async function listBridges(): Promise<Readonly<Record<string, readonly string[]>>> {
  const command = "for b in $(ovs-vsctl list-br); do echo $b $(ovs-vsctl list-ports $b); done";
  const lines = (await inGuest(command)).split("\n").map((line) => line.split(" "));
  return Object.fromEntries(lines.map(([name = "", ...ports]) => [name, ports.sort()]));
}

async function bridgesAre(wanted: Readonly<Record<string, readonly string[]>>): Promise<void> {
  await eventually(
    `the bridges are ${JSON.stringify(wanted)}`,
    async () => JSON.stringify(await listBridges()) === JSON.stringify(wanted),
    within,
  );
}

const status = () => news.states.get("vm")?.status;
const policy = policySpec(
  { pfNames: [uplink] },
  {
    numVfs: 2,
    resourceName: "switched",
    eSwitchMode: "switchdev",
    bridge: { ovs: { bridge: { otherConfig: { "mac-aging-time": "100" } } } },
  },
);
const users = { "br-user": ["user0"] };

function startDaemon() {
  return node.startDaemon(flags);
}

describe("Open vSwitch bridges of policies", () => {
  it("appear with the policy, are repaired, and disappear with it, beside a bridge of the administrator", async () => {
    const first = startDaemon();
    await applyPolicy(testCluster, "switched", policy);
    await policyIs(news, "switched", "Ready", within.withinMs);
    expect(await listBridges()).toEqual({ [bridge]: [uplink], ...users });
    expect(await inGuest(`ovs-vsctl get Bridge ${bridge} other_config:mac-aging-time`)).toBe('"100"');
    expect(await inGuest(`ovs-vsctl get Interface ${uplink} ofport error`)).toBe("1\n[]");
    expect(await inGuest(`ovs-dpctl show | grep -c ${uplink}`)).toBe("1");
    expect(status()?.bridges?.ovs).toEqual([
      {
        name: bridge,
        bridge: { otherConfig: { "mac-aging-time": "100" } },
        uplinks: [{ pciAddress: "0000:01:00.0", name: uplink }],
      },
    ]);
    expect(status()?.openVSwitch).toEqual({ hardwareOffload: true });

    // An administrator removes the uplink. The representor of a pod stays.
    await inGuest(`ovs-vsctl add-port ${bridge} enp1s0f0np0_0; ovs-vsctl del-port ${uplink}`);
    await bridgesAre({ [bridge]: [uplink, "enp1s0f0np0_0"].sort(), ...users });

    first.kill("SIGKILL");
    await first.exitCode;
    await testCluster.kubectl(["delete", "sriovnetworknodepolicies", "--all", "-n", namespace]);
    const second = startDaemon();
    await bridgesAre(users);
    await eventually("no bridge is reported", () => status()?.bridges === undefined, within);
    second.kill("SIGTERM");
    expect(await second.exitCode).toBe(0);
  }, 900_000);

  it("are reported as unknown while ovsdb-server is down, and are back when it is", async () => {
    const daemon = startDaemon();
    await applyPolicy(testCluster, "switched", policy);
    await policyIs(news, "switched", "Ready", within.withinMs);
    await inGuest("systemctl stop openvswitch-switch ovs-vswitchd ovsdb-server");
    await eventually(
      "the node state names the socket",
      () => status()?.syncStatus === "Failed" && status()?.lastSyncError?.includes("db.sock"),
      within,
    );
    expect(status()?.bridges?.ovs?.map(({ name }) => name)).toEqual([bridge]);
    await inGuest("systemctl start openvswitch-switch");
    await eventually("the node is configured", () => status()?.syncStatus === "Succeeded", within);
    expect(await listBridges()).toEqual({ [bridge]: [uplink], ...users });
    daemon.kill("SIGTERM");
    expect(await daemon.exitCode).toBe(0);
  }, 900_000);
});
