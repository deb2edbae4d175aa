// SPDX-License-Identifier: Apache-2.0
/**
 * Tests the proposal on software bridges from the policy to packets on a real kernel, with Open vSwitch and the real CNI plugin
 * ovs: in daemon mode, and in systemd mode over reboots. For Linux bridges, a program does what
 * accelerated-bridge documents. VFs of igbsw send and receive through their representors. `npm run e2e -- cluster/bridges` has
 * the same with the chart, a kubelet and Multus.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { enableFeatureGate, namespace, policyIs, type NodeLog, type TestCluster } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import type { GuestNode } from "@switchyard/vm-lab/guest-node";
import { bridge, networksOf, pf, policyWithBridge, uplink, vlans } from "../cluster/bridge-objects.ts";
import { disposeOf } from "../src/dispose-of.ts";
import { startWatchedNode, type WatchedNode } from "../src/nodes/watched-node.ts";
import { createCniPods, type CniPods } from "./cni-pods.ts";

const withinMs = 600_000;
const within = { withinMs };
const limitMs = 1_800_000;
const flags = ["--manage-software-bridges"];
const users = { "br-user": ["user0"] };
const representors = [0, 1, 2].map((vf) => `${uplink}_${vf}`);
const allPorts = [uplink, ...representors].sort();

let watched: WatchedNode;
let testCluster: TestCluster;
let news: NodeLog;
let node: GuestNode;
let cni: CniPods;

beforeAll(async () => {
  watched = await startWatchedNode({ boot: "systemd", driver: "igbsw" }, { commandLimitMs: 300_000 });
  ({ testCluster, news, node } = watched);
  await enableFeatureGate(testCluster, "manageSoftwareBridges");
  cni = await createCniPods(node);
  await eventually("Open vSwitch runs", async () => (await inGuest("ovs-vsctl -t 5 show || true")) !== "", within);
  await inGuest("ovs-vsctl add-br br-user -- add-port br-user user0 -- set Interface user0 type=internal");
}, limitMs);

afterAll(async () => {
  await disposeOf(watched);
}, 60_000);

const inGuest = (command: string) => watched.inGuest(command);
const apply = (object: unknown) => testCluster.kubectl(["apply", "-f", "-"], object);

/** Applies both networks, and returns the configurations that the operator renders for them. */
async function configurations(kind: "OVSNetwork" | "BridgeNetwork") {
  for (const network of networksOf(kind)) await apply(network);
  const read = (name: string): Promise<string> =>
    eventually(
      `the NetworkAttachmentDefinition ${name} is that of the ${kind}`,
      async () => {
        const path = ["-n", "default", "-o", "jsonpath={.spec.config}"];
        const config = await testCluster.kubectl(["get", "network-attachment-definitions", name, ...path]);
        return config.includes(kind === "OVSNetwork" ? '"ovs"' : '"accelerated-bridge"') ? config : undefined;
      },
      within,
    );
  return { blue: await read("blue"), red: await read("red") };
}

type Configurations = Awaited<ReturnType<typeof configurations>>;

/** Two pods in one VLAN and one in another: their names with the VF and the network of each. */
const pods = [
  { name: "blue1", vf: 0, network: "blue" },
  { name: "blue2", vf: 1, network: "blue" },
  { name: "red1", vf: 2, network: "red" },
] as const;

async function attachmentOf({ vf, network }: (typeof pods)[number], configs: Configurations) {
  const deviceID = await inGuest(`basename $(readlink /sys/bus/pci/devices/${pf}/virtfn${vf})`);
  return { deviceID, config: configs[network] };
}

async function startPods(configs: Configurations): Promise<readonly string[]> {
  const addresses: string[] = [];
  for (const pod of pods) addresses.push(await cni.add(pod.name, await attachmentOf(pod, configs)));
  return addresses;
}

async function removePods(configs: Configurations): Promise<void> {
  for (const pod of pods) await cni.remove(pod.name, await attachmentOf(pod, configs));
}

/** Pods of one VLAN reach each other; that of the other one neither reaches them nor sees their frames. */
async function vlansHold([, second = "", third = ""]: readonly string[]): Promise<void> {
  expect(await cni.reaches("blue1", second, 60)).toBe(true);
  expect(await cni.reaches("blue1", third, 5)).toBe(false);
  // An ARP request for an address that nobody has is sent to everybody in the VLAN.
  const frames = async () => ({ blue2: await cni.receivedFrames("blue2"), red1: await cni.receivedFrames("red1") });
  const before = await frames();
  expect(await cni.reaches("blue1", "192.168.77.200", 5)).toBe(false);
  const after = await frames();
  expect(after.blue2).toBeGreaterThan(before.blue2);
  expect(after.red1).toBe(before.red1);
}

async function ovsBridgesAre(wanted: Readonly<Record<string, readonly string[]>>): Promise<void> {
  const read = async () => {
    const command = "for b in $(ovs-vsctl list-br); do echo $b $(ovs-vsctl list-ports $b); done";
    const lines = (await inGuest(command)).split("\n").map((line) => line.split(" "));
    return Object.fromEntries(lines.map(([name = "", ...ports]) => [name, ports.sort()]));
  };
  const holds = async () => JSON.stringify(await read()) === JSON.stringify(wanted);
  await eventually(`the bridges are ${JSON.stringify(wanted)}`, holds, within);
}

async function vlansOfPorts(): Promise<readonly string[]> {
  return (await inGuest(`for port in ${representors.join(" ")}; do ovs-vsctl get Port $port tag; done`)).split("\n");
}

const wantedVlans = [vlans.blue, vlans.blue, vlans.red].map(String);

async function isReset(): Promise<void> {
  const state = `cat /sys/bus/pci/devices/${pf}/sriov_numvfs; devlink dev eswitch show pci/${pf}; ls /etc/sriov-operator/pci`;
  const holds = async () => /^0\n.* mode legacy [^\n]*$/.test(await inGuest(state));
  await eventually("the PF is reset", holds, within);
}

const deletePolicy = () => testCluster.kubectl(["delete", "sriovnetworknodepolicies", "--all", "-n", namespace]);

describe("in daemon mode, a policy", () => {
  it(
    "with an Open vSwitch bridge attaches pods by the real plugin, in the VLANs of their networks, and leaves nothing behind",
    async () => {
      const daemon = node.startDaemon(flags);
      await apply(policyWithBridge({ ovs: {} }));
      await policyIs(news, "switched", "Ready", withinMs);
      await ovsBridgesAre({ [bridge]: [uplink], ...users });
      const configs = await configurations("OVSNetwork");
      const addresses = await startPods(configs);
      await ovsBridgesAre({ [bridge]: allPorts, ...users });
      expect(await vlansOfPorts()).toEqual(wantedVlans);
      await vlansHold(addresses);

      const [, , red] = pods;
      await cni.remove(red.name, await attachmentOf(red, configs));
      await ovsBridgesAre({ [bridge]: [uplink, ...representors.slice(0, 2)].sort(), ...users });
      await cni.add(red.name, await attachmentOf(red, configs));
      await removePods(configs);
      await ovsBridgesAre({ [bridge]: [uplink], ...users });

      await deletePolicy();
      await ovsBridgesAre(users);
      await isReset();
      await testCluster.kubectl(["delete", "ovsnetworks", "--all", "-n", namespace]);
      daemon.kill("SIGTERM");
      expect(await daemon.exitCode).toBe(0);
    },
    limitMs,
  );

  it(
    "with a Linux bridge attaches pods as accelerated-bridge documents, in the VLANs of their networks, and leaves nothing behind",
    async () => {
      const daemon = node.startDaemon(flags);
      await apply(policyWithBridge({ linux: { bridge: { vlanFiltering: true } } }));
      await policyIs(news, "switched", "Ready", withinMs);
      const configs = await configurations("BridgeNetwork");
      const addresses = await startPods(configs);
      const ports = () => inGuest(`ls /sys/class/net/${bridge}/brif`);
      expect((await ports()).split("\n").sort()).toEqual(allPorts);
      const shown = JSON.parse(await inGuest("bridge -json vlan show")) as readonly {
        readonly ifname: string;
        readonly vlans: readonly { readonly vlan: number; readonly flags?: readonly string[] }[];
      }[];
      const untagged = representors.map((name) =>
        shown.find(({ ifname }) => ifname === name)?.vlans.map(({ vlan, flags = [] }) => [vlan, ...flags].join(" ")),
      );
      expect(untagged).toEqual(wantedVlans.map((vlan) => [`${vlan} PVID Egress Untagged`]));
      await vlansHold(addresses);

      await removePods(configs);
      expect(await ports()).toBe(uplink);
      await deletePolicy();
      await isReset();
      expect(await inGuest(`ls -d /sys/class/net/*/bridge`)).toBe("");
      await testCluster.kubectl(["delete", "bridgenetworks", "--all", "-n", namespace]);
      daemon.kill("SIGTERM");
      expect(await daemon.exitCode).toBe(0);
    },
    limitMs,
  );
});

describe("in systemd mode, a policy with an Open vSwitch bridge", () => {
  const startDaemon = () => node.startDaemon([...flags, "--use-systemd-service=true"]);

  /** Waits until the daemon wants to reboot, and lets it. The container runtime would stop the daemon during the shutdown. */
  async function reboots(daemon: ReturnType<typeof startDaemon>): Promise<void> {
    const rebooted = node.guest.nextBoot();
    await inGuest("until [ -e /etc/sriov-operator/reboot.json ]; do sleep 0.1; done").catch(() => undefined);
    daemon.kill("SIGTERM");
    await rebooted;
  }

  it(
    "attaches pods after the reboot that creates it, again after a hard reset under them, and is gone after the last reboot",
    async () => {
      const first = startDaemon();
      await apply(policyWithBridge({ ovs: {} }));
      await reboots(first);
      const second = startDaemon();
      await policyIs(news, "switched", "Ready", withinMs);
      await ovsBridgesAre({ [bridge]: [uplink], ...users });
      const configs = await configurations("OVSNetwork");
      const before = await startPods(configs);
      expect(await vlansOfPorts()).toEqual(wantedVlans);
      await vlansHold(before);
      second.kill("SIGKILL");
      await second.exitCode;

      // As the kubelet, which starts new sandboxes for its pods.
      await node.guest.reboot({ hard: true });
      const third = startDaemon();
      await policyIs(news, "switched", "Ready", withinMs);
      const after = await startPods(configs);
      await ovsBridgesAre({ [bridge]: allPorts, ...users });
      expect(await vlansOfPorts()).toEqual(wantedVlans);
      await vlansHold(after);
      await removePods(configs);
      await ovsBridgesAre({ [bridge]: [uplink], ...users });

      await deletePolicy();
      await reboots(third);
      await ovsBridgesAre(users);
      await isReset();
    },
    2 * limitMs,
  );
});
