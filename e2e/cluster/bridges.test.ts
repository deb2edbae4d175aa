// SPDX-License-Identifier: Apache-2.0
/**
 * Tests the proposal on software bridges from the chart to packets, on a node with a real kubelet, Multus, Open vSwitch and
 * the real CNI plugin ovs. igbsw stands in for a switchdev NIC: VFs send and receive through their representors. The parts of
 * each mode build on each other; `-t "systemd mode"` runs those of one.
 */
import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import { eventually, findWorkspaceRoot } from "@switchyard/testing";
import { join } from "node:path";
import { disposeOf } from "../src/dispose-of.ts";
import { prepareHelm, type Helm } from "../src/helm/helm.ts";
import {
  blue,
  bridge,
  networksOf,
  numVfs,
  pf,
  policyWithBridge,
  red,
  resource,
  uplink,
  vlans,
} from "./bridge-objects.ts";
import { pushBridgePlugins } from "./bridge-plugin-images.ts";
import { nodeName, registryName, startKubeCluster, type KubeCluster } from "./kube-cluster.ts";
import { imageValues, pushOwnImages, sriovApps } from "./own-images.ts";
import { createParts, createTimings } from "./timings.ts";
import { startRegistry, type Registry } from "./registry.ts";
import { pushThirdPartyImages } from "./third-party-images.ts";
import { deploymentOf, namespace, ping, podsOf, type VfPod } from "./vf-pods.ts";

/** An idle machine needs seconds, a busy one minutes. */
const within = { withinMs: 900_000, everyMs: 1000 };
const limitMs = 1_800_000;
const chart = join(findWorkspaceRoot(), "charts/switchyard");
const release = "switchyard";
const timings = createTimings();

let registry: Registry;
let cluster: KubeCluster;
let helm: Helm;
let images: Readonly<Record<string, unknown>>;
let tools: string;

beforeAll(async () => {
  registry = await startRegistry();
  const [started, own, thirdParty, plugins] = await Promise.all([
    timings.during("start of control plane and guest", () => startKubeCluster(registry, { hasSwitches: true })),
    timings.during("build and push of images", () => pushOwnImages(registry, sriovApps)),
    pushThirdPartyImages(registry),
    pushBridgePlugins(registry),
  ]);
  cluster = started;
  images = { ...imageValues(own, thirdParty), ...plugins };
  tools = `${registryName}/${thirdParty.tools}`;
  const { controlPlane, directory } = cluster;
  helm = await prepareHelm("helm4", { kubeconfig: controlPlane.kubeconfig, namespace, directory });
  await timings.during("node Ready", () => cluster.nodeIsReady());
  const settings = "type=internal";
  await cluster.inGuest(`ovs-vsctl add-br br-user -- add-port br-user user0 -- set Interface user0 ${settings}`);
}, limitMs);

afterAll(async () => {
  timings.print();
  await disposeOf(cluster, registry);
}, 120_000);

const apply = (object: unknown): Promise<string> => cluster.kubectl(["apply", "-f", "-"], object);
const field = (kind: string, name: string, path: string): Promise<string> =>
  cluster.kubectl(["get", kind, name, "-n", namespace, "-o", `jsonpath=${path}`]);

/** Values of the chart, as the guides name them. */
function valuesFor(configurationMode: "daemon" | "systemd") {
  return {
    images,
    hooks: { activeDeadlineSeconds: 900, giveHostsBack: { enabled: true } },
    sriovOperatorConfig: { deploy: true, configurationMode, featureGates: { manageSoftwareBridges: true } },
  };
}

/** Waits until the condition Ready is True for the current generation. */
async function isReady(kind: string, name: string): Promise<void> {
  const path = '{.metadata.generation}={.status.observedGeneration} {.status.conditions[?(@.type=="Ready")].status}';
  const holds = async (): Promise<boolean> => /^(\d+)=\1 True$/.test(await field(kind, name, path));
  await eventually(`${kind} ${name} is Ready`, holds, within);
}

async function allocatable(count: number): Promise<void> {
  const path = `{.status.allocatable['${resource.replace(".", "\\.")}']}`;
  const holds = async (): Promise<boolean> => Number(await field("node", nodeName, path)) === count;
  await eventually(`${count} VFs are allocatable`, holds, within);
}

/** Open vSwitch bridges with the names of their ports. */
async function ovsBridges(): Promise<Readonly<Record<string, readonly string[]>>> {
  const command = "for b in $(ovs-vsctl list-br); do echo $b $(ovs-vsctl list-ports $b); done";
  const lines = (await cluster.inGuest(command)).split("\n").map((line) => line.split(" "));
  return Object.fromEntries(lines.map(([name = "", ...ports]) => [name, ports.sort()]));
}

async function ovsBridgesAre(wanted: Readonly<Record<string, readonly string[]>>): Promise<void> {
  const holds = async (): Promise<boolean> => JSON.stringify(await ovsBridges()) === JSON.stringify(wanted);
  await eventually(`the bridges are ${JSON.stringify(wanted)}`, holds, within);
}

const users = { "br-user": ["user0"] };
const representors = [0, 1, 2].map((vf) => `${uplink}_${vf}`);

/** The pods of both networks. */
interface Pods {
  readonly blue: readonly [VfPod, VfPod];
  readonly red: VfPod;
}

async function allPods(): Promise<Pods> {
  return eventually(
    "all pods have VFs",
    async () => {
      const [[first, second] = [], [third] = []] = await Promise.all([podsOf(cluster, blue), podsOf(cluster, red)]);
      return first && second && third ? { blue: [first, second], red: third } : undefined;
    },
    within,
  );
}

/** Pods of one VLAN reach each other, and not those of the other one. */
async function vlansHold(): Promise<void> {
  const reach = async (): Promise<boolean> => {
    const pods = await allPods();
    return (await ping(cluster, pods.blue)).includes(" 0% packet loss");
  };
  await eventually("pods of one VLAN reach each other", reach, within);
  const pods = await allPods();
  expect(await ping(cluster, [pods.blue[0], pods.red])).toContain(" 100% packet loss");
}

/** VLANs of the representors on the bridge, in their order. */
async function vlansOfPorts(): Promise<readonly number[]> {
  const command = `for port in ${representors.join(" ")}; do ovs-vsctl get Port $port tag; done`;
  return (await cluster.inGuest(command)).split("\n").map(Number).sort();
}

const wantedVlans = [vlans.blue, vlans.blue, vlans.red];

/** Deletes the pods, and the networks of this kind. */
async function deletePods(kind: "OVSNetwork" | "BridgeNetwork"): Promise<void> {
  await cluster.kubectl(["delete", "deployment", blue.app, red.app, "--cascade=foreground", "--timeout=15m"]);
  const none = async (): Promise<boolean> => (await cluster.kubectl(["get", "pods", "-o", "name"])) === "";
  await eventually("no pod is left", none, within);
  await cluster.kubectl(["delete", kind, "--all", "-n", namespace, "--timeout=15m"]);
}

/** Starts the pods in networks of this kind. */
async function startPods(kind: "OVSNetwork" | "BridgeNetwork"): Promise<void> {
  for (const network of networksOf(kind)) await apply(network);
  await isReady(kind, blue.network);
  await timings.during("pods Ready", async () => {
    for (const pods of [blue, red]) await apply(deploymentOf(tools, pods));
    await allPods();
  });
}

/** Installs the chart, or changes the mode. */
async function install(configurationMode: "daemon" | "systemd"): Promise<void> {
  await timings.during(`install in ${configurationMode} mode, to ready`, async () => {
    const options = ["--install", "--create-namespace", "--wait", "--timeout", "15m"];
    await helm.run(["upgrade", release, chart, ...options], valuesFor(configurationMode));
    await isReady("sriovoperatorconfig", "default");
    await eventually("all pods are Ready", async () => (await cluster.unreadyPods(namespace)).length === 0, within);
  });
}

const bootId = (): Promise<string> => cluster.inGuest("cat /proc/sys/kernel/random/boot_id");
const isReset = async (): Promise<boolean> => {
  const state = `cat /sys/bus/pci/devices/${pf}/sriov_numvfs; devlink dev eswitch show pci/${pf}; ls /etc/sriov-operator/pci`;
  return /^0\n.* mode legacy [^\n]*$/.test(await cluster.inGuest(state));
};

describe("an Open vSwitch bridge of a policy, in daemon mode", () => {
  const part = createParts(limitMs);

  part("is created with VFs, representors and the PF as its uplink, and announced to the kubelet", async () => {
    await install("daemon");
    await timings.during("policy to allocatable", async () => {
      await apply(policyWithBridge({ ovs: {} }));
      await isReady("sriovnetworknodepolicy", "switched");
      await allocatable(numVfs);
    });
    expect(await ovsBridges()).toEqual({ [bridge]: [uplink], ...users });
  });

  part("has the representors of pods as ports with the VLAN of their network, which divides the pods", async () => {
    await startPods("OVSNetwork");
    await ovsBridgesAre({ [bridge]: [uplink, ...representors].sort(), ...users });
    expect(await vlansOfPorts()).toEqual(wantedVlans);
    await vlansHold();
  });

  part("loses the representor with its pod, which can come back", async () => {
    await cluster.kubectl(["scale", "deployment", red.app, "--replicas=0"]);
    const ports = async (): Promise<number> => (await ovsBridges())[bridge]?.length ?? 0;
    await eventually("one representor has left the bridge", async () => (await ports()) === numVfs, within);
    await cluster.kubectl(["scale", "deployment", red.app, "--replicas=1"]);
    await vlansHold();
    await deletePods("OVSNetwork");
    await ovsBridgesAre({ [bridge]: [uplink], ...users });
  });

  part("is gone with its policy, and the bridge of a user stays", async () => {
    await cluster.kubectl(["delete", "sriovnetworknodepolicy", "switched", "-n", namespace]);
    await ovsBridgesAre(users);
    await eventually("the PF is reset", isReset, within);
    await allocatable(0);
  });
});

describe("a Linux bridge of a policy, with a program that does what accelerated-bridge documents", () => {
  const part = createParts(limitMs);

  /** The bridge's ports with the VLAN of their untagged packets. */
  async function ports(): Promise<Readonly<Record<string, number>>> {
    const shown = JSON.parse(await cluster.inGuest("bridge -json vlan show")) as {
      readonly ifname: string;
      readonly vlans: readonly { readonly vlan: number; readonly flags?: readonly string[] }[];
    }[];
    const members = (await cluster.inGuest(`ls /sys/class/net/${bridge}/brif`)).split("\n");
    const untagged = shown
      .filter(({ ifname }) => members.includes(ifname))
      .map(({ ifname, vlans }) => [ifname, vlans.find(({ flags }) => flags?.includes("PVID"))?.vlan ?? 0] as const);
    return Object.fromEntries(untagged);
  }

  part("is created with its uplink, and BridgeNetworks attach pods to it in their VLAN", async () => {
    await install("daemon");
    await timings.during("policy to allocatable", async () => {
      await apply(policyWithBridge({ linux: { bridge: { vlanFiltering: true } } }));
      await isReady("sriovnetworknodepolicy", "switched");
      await allocatable(numVfs);
    });
    expect(await ports()).toEqual({ [uplink]: 1 });
    await startPods("BridgeNetwork");
    const tags = await ports();
    expect(representors.map((name) => tags[name]).sort()).toEqual(wantedVlans);
    await vlansHold();
  });

  part("loses the representors with the pods, and is gone with its policy", async () => {
    await deletePods("BridgeNetwork");
    const isAlone = async (): Promise<boolean> => JSON.stringify(await ports()) === JSON.stringify({ [uplink]: 1 });
    await eventually("only the uplink is left on the bridge", isAlone, within);
    await cluster.kubectl(["delete", "sriovnetworknodepolicy", "switched", "-n", namespace]);
    await eventually("the PF is reset", isReset, within);
    expect(await cluster.inGuest("ls -d /sys/class/net/*/bridge | grep -v cni0")).toBe("");
    await allocatable(0);
  });
});

describe("an Open vSwitch bridge of a policy, in systemd mode", () => {
  const part = createParts(limitMs);

  part("is there after the reboot for its policy, and pods use it", async () => {
    await install("systemd");
    await timings.during("policy to allocatable, with a reboot", async () => {
      const first = await bootId();
      const rebooted = cluster.guest.nextBoot();
      await apply(policyWithBridge({ ovs: {} }));
      await rebooted;
      expect(await bootId()).not.toBe(first);
      await isReady("sriovnetworknodepolicy", "switched");
      await allocatable(numVfs);
    });
    expect(await ovsBridges()).toEqual({ [bridge]: [uplink], ...users });
    await startPods("OVSNetwork");
    expect(await vlansOfPorts()).toEqual(wantedVlans);
    await vlansHold();
  });

  part("is there again after a hard reset under the pods, which reach each other again", async () => {
    await timings.during("hard reset, until pods reach each other", async () => {
      await cluster.guest.reboot({ hard: true });
      await isReady("sriovnetworknodepolicy", "switched");
      await vlansHold();
    });
    await ovsBridgesAre({ [bridge]: [uplink, ...representors].sort(), ...users });
    expect(await vlansOfPorts()).toEqual(wantedVlans);
  });

  part("is gone after the reboot for the deletion of its policy, and the bridge of a user stays", async () => {
    await deletePods("OVSNetwork");
    await timings.during("deletion of the policy, with a reboot", async () => {
      const rebooted = cluster.guest.nextBoot();
      await cluster.kubectl(["delete", "sriovnetworknodepolicy", "switched", "-n", namespace]);
      await rebooted;
      await ovsBridgesAre(users);
      await eventually("the PF is reset", isReset, within);
    });
  });
});
