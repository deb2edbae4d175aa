// SPDX-License-Identifier: Apache-2.0
/**
 * Tests Linux bridges of policies on a real kernel: igbsw (igb with a simulated eswitch), real bridges and routes, udev, a real
 * API server and the operator.
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
const other = "enp1s0f1np1";
const rule = `/etc/udev/rules.d/10-nm-disable-${bridge}.rules`;
let watched: WatchedNode;
let testCluster: TestCluster;
let news: NodeLog;
let node: GuestNode;

beforeAll(async () => {
  watched = await startWatchedNode({ udev: true, driver: "igbsw" });
  ({ testCluster, news, node } = watched);
  await enableFeatureGate(testCluster, "manageSoftwareBridges");
  await inGuest("ip link add br-user type bridge; ip link add user0 type dummy; ip link set user0 master br-user");
}, 900_000);

afterAll(async () => {
  await disposeOf(watched);
}, 60_000);

const inGuest = (command: string) => watched.inGuest(command);

function startDaemon() {
  return node.startDaemon(["--manage-software-bridges"]);
}

/** Returns all bridges with the names of their ports. */
async function listBridges(): Promise<Readonly<Record<string, readonly string[]>>> {
  const command = "cd /sys/class/net; for b in */bridge; do b=${b%/bridge}; echo $b $(ls $b/brif); done";
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
const pfStatus = (pf: string) => status()?.interfaces?.find(({ pciAddress }) => pciAddress === pf);
const linux = { bridge: { vlanFiltering: true, vlanProtocol: "802.1ad" }, uplink: { learning: "0" } } as const;
const settings = { numVfs: 2, eSwitchMode: "switchdev", bridge: { linux } } as const;
const policy = policySpec({ pfNames: [uplink] }, { ...settings, resourceName: "switched" });
const users = { "br-user": ["user0"] };

describe("Linux bridges of policies", () => {
  it("appear with the policy, are repaired, and disappear with it, beside a bridge of the administrator", async () => {
    // As a daemon leaves it that was killed right after the creation.
    await inGuest(`ip link add ${bridge} group 1398362946 type bridge`);
    const first = startDaemon();
    await applyPolicy(testCluster, "switched", policy);
    await policyIs(news, "switched", "Ready", within.withinMs);
    expect(await listBridges()).toEqual({ [bridge]: [uplink], ...users });
    const shown = JSON.parse(await inGuest(`ip -json -details link show ${bridge}`)) as readonly unknown[];
    expect(shown).toMatchObject([
      {
        ifalias: "switchyard.io/owner=config-daemon",
        flags: expect.arrayContaining(["UP"]),
        linkinfo: { info_data: { vlan_filtering: 1, vlan_protocol: "802.1ad" } },
      },
    ]);
    const brport = `/sys/class/net/${uplink}/brport`;
    expect(await inGuest(`cat ${brport}/learning ${brport}/unicast_flood`)).toBe("0\n1");
    expect(await inGuest(`cat ${rule}`)).toContain(`KERNEL=="${bridge}"`);
    const reported = status()?.bridges?.linux;
    expect(reported).toMatchObject([
      {
        name: bridge,
        linkAdminState: "up",
        bridge: linux.bridge,
        uplinks: [{ pciAddress: "0000:01:00.0", name: uplink, uplink: { learning: "0" } }],
      },
    ]);

    // An administrator changes what the policy says, and adds a port.
    await inGuest(`ip link set ${uplink} nomaster; ip link set ${bridge} down`);
    await inGuest(`ip link set ${bridge} type bridge vlan_filtering 0; ip link add pod0 type dummy`);
    await inGuest(`ip link set pod0 master ${bridge}`);
    await bridgesAre({ [bridge]: [uplink, "pod0"].sort(), ...users });
    const repaired = `cat /sys/class/net/${bridge}/bridge/vlan_filtering ${brport}/learning; ip -o link show up | grep -c " ${bridge}:"`;
    await eventually("the settings are back", async () => (await inGuest(repaired)) === "1\n0\n1", within);

    first.kill("SIGKILL");
    await first.exitCode;
    await testCluster.kubectl(["delete", "sriovnetworknodepolicies", "--all", "-n", namespace]);
    const second = startDaemon();
    await bridgesAre(users);
    await eventually("no bridge is reported", () => status()?.bridges === undefined, within);
    await eventually("the PF is reset", () => pfStatus("0000:01:00.0")?.owned !== true, within);
    expect(await inGuest(`ls ${rule} 2>&1`)).toContain("No such file");
    expect(await inGuest("cat /sys/class/net/user0/master/ifindex")).not.toBe("");
    second.kill("SIGTERM");
    expect(await second.exitCode).toBe(0);
  }, 900_000);

  it("are not given to a PF that carries the default route, with the reason on policy and node, until the route moves", async () => {
    const daemon = startDaemon();
    await inGuest(`ip link add link ${other} name vlan5 type vlan id 5; ip link set ${other} up; ip link set vlan5 up`);
    await inGuest("ip route add default dev vlan5 metric 4000");
    await applyPolicy(
      testCluster,
      "refused",
      policySpec({ pfNames: [other] }, { ...settings, resourceName: "refused" }),
    );
    const failed = () => status()?.syncStatus === "Failed" && status()?.lastSyncError?.includes("default route");
    await eventually("the node state has the reason", failed, within);
    const reason =
      "0000:01:00.1 cannot become a port of bridge br-0000_01_00.1, because the host uses it: default route";
    expect(status()?.lastSyncError).toContain(reason);
    expect(pfStatus("0000:01:00.1")?.hostUse).toEqual(["default route"]);
    await policyIs(news, "refused", "Degraded", within.withinMs);
    expect(JSON.stringify(news.policies.get("refused")?.status)).toContain("because the host uses it: default route");
    expect(await listBridges()).toEqual(users);

    await inGuest("ip route del default dev vlan5 metric 4000; ip link del vlan5; ip link set dev user0 up");
    await inGuest(`ip link set ${other} down; ip link set ${other} up`); // an event of the PF
    await bridgesAre({ "br-0000_01_00.1": [other], ...users });
    await policyIs(news, "refused", "Ready", within.withinMs);
    daemon.kill("SIGTERM");
    expect(await daemon.exitCode).toBe(0);
  }, 900_000);
});
