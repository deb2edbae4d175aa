// SPDX-License-Identifier: Apache-2.0
/**
 * Kills the daemon before and after its first write of each kind, on a real kernel (igbsw) with a real udev and Open
 * vSwitch. It does so while it configures two switchdev PFs with bridges, user-space drivers and the RDMA mode, and
 * while it resets them. The node must reach the same state as without kills, and what the administrator has beside it
 * must stay. The table in docs/contributing/testing.md says which kinds of steps cannot run here.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
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
import type { GuestNode } from "@switchyard/vm-lab/guest-node";
import { disposeOf } from "../src/dispose-of.ts";
import { startWatchedNode, type WatchedNode } from "../src/nodes/watched-node.ts";

const [first, second] = ["0000:01:00.0", "0000:01:00.1"];
const [uplink, other] = ["enp1s0f0np0", "enp1s0f1np1"];
const [ovsBridge, linuxBridge] = [`br-${first}`.replaceAll(":", "_"), `br-${second}`.replaceAll(":", "_")];
const killedFile = "/var/lib/killed";
const withinMs = 300_000;
const limitMs = 1_800_000;
/** More starts than kinds of writes, so a daemon that is killed for ever fails the test. */
const mostStarts = 120;

let watched: WatchedNode;
let testCluster: TestCluster;
let news: NodeLog;
let node: GuestNode;

beforeAll(async () => {
  watched = await startWatchedNode(
    { udev: true, driver: "igbsw" },
    {
      commandLimitMs: withinMs,
      program: "apps/config-daemon/src/testing/mortal-node.ts",
    },
  );
  ({ testCluster, news, node } = watched);
  await enableFeatureGate(testCluster, "manageSoftwareBridges");
  // The guest has no service manager. Hardware offload is configured first, so that nothing has to restart ovs-vswitchd.
  await inGuest(`/usr/share/openvswitch/scripts/ovs-ctl start --system-id=random --no-monitor
ovs-vsctl set Open_vSwitch . other_config:hw-offload=true
/usr/share/openvswitch/scripts/ovs-ctl restart --system-id=random --no-monitor
mkdir -p /etc/udev/rules.d /etc/modprobe.d
modprobe ib_core # otherwise it gets its mode when the daemon loads it
ip link add br-user type bridge; ip link add user0 type dummy; ip link set user0 master br-user
ip link add user1 type dummy; ovs-vsctl add-br ovs-user -- add-port ovs-user user1
echo '# mine' >/etc/udev/rules.d/99-admin.rules; echo 'options ib_core recv_queue_size=512' >/etc/modprobe.d/mine.conf`);
}, 900_000);

afterAll(async () => {
  await disposeOf(watched);
}, 60_000);

const inGuest = (command: string) => watched.inGuest(command);
const kills = async () => (await inGuest(`cat ${killedFile} 2>/dev/null || true`)).split("\n");

/** Starts daemons until one survives and `isReached` holds, and ends it. Returns the number of kills. */
async function surviveUntil(isReached: () => boolean | Promise<boolean>): Promise<number> {
  for (let start = 0; start < mostStarts; start++) {
    const daemon = node.startDaemon(["--killed-file", killedFile]);
    daemon.stdout.resume();
    const ended = new AbortController();
    const exit = daemon.exitCode.finally(() => {
      ended.abort();
    });
    const reached = eventually("the node is as requested", isReached, { withinMs, signal: ended.signal });
    reached.catch(() => undefined);
    const outcome = await Promise.race([exit, reached]);
    if (outcome !== true) {
      expect({ start, outcome }).toEqual({ start, outcome: 128 + 9 });
      continue;
    }
    daemon.kill("SIGTERM");
    const code = await exit;
    if (code === 0) return start;
    expect({ start, code }).toEqual({ start, code: 128 + 9 }); // by a last write
  }
  throw new Error(`no daemon has survived ${mostStarts} starts; kills: ${(await kills()).join(", ")}`);
}

function isReady(name: string): boolean {
  const policy = news.policies.get(name);
  const { conditions = [], observedGeneration } = policy?.status ?? {};
  const isTrue = conditions.some(({ type, status }) => type === "Ready" && status === "True");
  return isTrue && observedGeneration === policy?.metadata.generation;
}

const settings = { eSwitchMode: "switchdev", mtu: 2_000 } as const;

async function applyPolicies(): Promise<void> {
  const ovs = { ...settings, bridge: { ovs: {} }, numVfs: 3 };
  await applyPolicy(testCluster, "ovs", policySpec({ pfNames: [`${uplink}#0-1`] }, { ...ovs, resourceName: "ovs" }));
  const userSpace = { ...ovs, deviceType: "vfio-pci", resourceName: "dpdk" } as const;
  await applyPolicy(testCluster, "dpdk", policySpec({ pfNames: [`${uplink}#2-2`] }, userSpace));
  const linux = { ...settings, bridge: { linux: {} }, numVfs: 2, resourceName: "linux" };
  await applyPolicy(testCluster, "linux", policySpec({ pfNames: [other] }, linux));
  await testCluster.kubectl(["apply", "-f", "-"], {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkPoolConfig",
    metadata: { name: "rdma" },
    spec: { nodeSelector: {}, rdmaMode: "exclusive" },
  });
}

/** The state of the kernel, udev and Open vSwitch, and the files of the daemon. */
async function seen() {
  const sysfs = "/sys/bus/pci/devices";
  return {
    vfs: await inGuest(`cat ${sysfs}/${first}/sriov_numvfs ${sysfs}/${second}/sriov_numvfs`),
    modes: await inGuest(
      `for pf in ${first} ${second}; do devlink dev eswitch show pci/$pf | grep -o ' mode [a-z]*'; done`,
    ),
    mtus: await inGuest(`cat ${sysfs}/${first}/net/${uplink}/mtu ${sysfs}/${second}/net/${other}/mtu`),
    drivers: await inGuest(`for vf in ${sysfs}/${first}/virtfn*; do basename $(readlink $vf/driver) 2>/dev/null; done`),
    rdma: await inGuest("rdma system show | grep -o 'netns [a-z]*'"),
    ovs: await inGuest("for b in $(ovs-vsctl list-br); do echo $b $(ovs-vsctl list-ports $b); done"),
    bridges: await inGuest("cd /sys/class/net; for b in */bridge; do b=${b%/bridge}; echo $b $(ls $b/brif); done"),
    rules: await inGuest("ls /etc/udev/rules.d"),
    modprobe: await inGuest("ls /etc/modprobe.d | grep -e mine -e sriov"),
    records: await inGuest("ls /etc/sriov-operator/pci 2>/dev/null || true"),
    override: await inGuest(`cat ${sysfs}/0000:01:*/driver_override | sort -u`),
  };
}

const configured = {
  vfs: "3\n2",
  modes: "mode switchdev\n mode switchdev",
  mtus: "2000\n2000",
  drivers: "igbvf\nigbvf\nvfio-pci",
  rdma: "netns exclusive",
  ovs: `${ovsBridge} ${uplink}\novs-user user1`,
  bridges: `${linuxBridge} ${other}\nbr-user user0`,
  modprobe: "mine.conf\nsriov_network_operator_modules_config.conf",
  records: `${first}\n${second}`,
  override: "(null)",
};

const clean = {
  vfs: "0\n0",
  modes: "mode legacy\n mode legacy",
  mtus: "1500\n1500",
  drivers: "",
  ovs: "ovs-user user1",
  bridges: "br-user user0",
  rules: "99-admin.rules",
  modprobe: "mine.conf",
  records: "",
};

describe("a daemon that is killed before and after each kind of write", () => {
  it(
    "configures the node",
    async () => {
      await applyPolicies();
      const count = await surviveUntil(() => ["ovs", "dpdk", "linux"].every(isReady));
      for (const name of ["ovs", "dpdk", "linux"]) await policyIs(news, name, "Ready", withinMs);
      expect(await seen()).toMatchObject(configured);
      const list = await kills();
      expect(list).toHaveLength(count);
      for (const write of [
        ...["records.save", "files.writeText /etc/udev/rules.d/10-nm-disable-", "udev.reloadRules"],
        ...["sriov.setNumVfs", "sriov.setDriverOverride", "sriov.unbindDriver"],
        ...["devlink.setEswitchMode", "devlink.setParameter", "links.setMtu", "links.setFeature"],
        ...["modules.load", "rdma.setMode"],
        ...["ovs.setBridge", "linuxBridges.createBridge", "linuxBridges.addPort"],
      ]) {
        expect(list).toEqual(expect.arrayContaining([`before ${write}`, `after ${write}`]));
      }
      // After a kill, a driver override may be left, with which the kernel binds the driver by itself when it probes.
      expect(["sriov.bindDriver", "sriov.probeDrivers"].filter((write) => list.includes(`after ${write}`))).not.toEqual(
        [],
      );
    },
    limitMs,
  );

  it(
    "removes the port of a VF that is gone",
    async () => {
      // The list of the kills stays: this change adds one kind of write.
      const before = (await kills()).length;
      await inGuest(`ovs-vsctl add-port ${ovsBridge} ${uplink}_2`);
      await testCluster.kubectl(["delete", "sriovnetworknodepolicy", "dpdk", "-n", namespace]);
      const ovs = { ...settings, bridge: { ovs: {} }, numVfs: 2, resourceName: "ovs" };
      await applyPolicy(testCluster, "ovs", policySpec({ pfNames: [uplink] }, ovs));
      // Until the watch delivers the change, the policy is still ready with its old spec.
      await eventually("news of the change", () => news.policies.get("ovs")?.spec.numVfs === 2, { withinMs });
      const count = await surviveUntil(() => isReady("ovs"));
      expect(await seen()).toMatchObject({ ...configured, vfs: "2\n2", drivers: "igbvf\nigbvf" });
      const list = await kills();
      expect(list).toHaveLength(before + count);
      expect(list).toEqual(expect.arrayContaining(["before ovs.removePorts", "after ovs.removePorts"]));
    },
    limitMs,
  );

  it(
    "resets the node",
    async () => {
      await inGuest(`mv ${killedFile} ${killedFile}.first`);
      await testCluster.kubectl(["delete", "sriovnetworkpoolconfig", "rdma"]);
      await testCluster.kubectl(["delete", "sriovnetworknodepolicies", "--all", "-n", namespace]);
      const isReleased = async () => (await inGuest("ls /etc/sriov-operator/pci; ls /etc/modprobe.d")) !== "";
      expect(await isReleased()).toBe(true);
      const count = await surviveUntil(async () => {
        const state = news.states.get("vm");
        const isSettled =
          state?.status?.syncStatus === "Succeeded" && state.status.observedGeneration === state.metadata.generation;
        return isSettled && (await inGuest("ls /etc/sriov-operator/pci")) === "";
      });
      expect(await seen()).toMatchObject(clean);
      const list = await kills();
      expect(list).toHaveLength(count);
      for (const write of ["records.remove", "sriov.setNumVfs", "devlink.setEswitchMode", "links.setMtu"]) {
        expect(list).toEqual(expect.arrayContaining([`before ${write}`, `after ${write}`]));
      }
    },
    limitMs,
  );
});
