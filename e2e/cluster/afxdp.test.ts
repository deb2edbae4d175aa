// SPDX-License-Identifier: Apache-2.0
/**
 * Tests AF_XDP as an administrator and a user of a cluster meet it. Helm installs the chart and the images of this
 * checkout without SR-IOV on a node with a real kubelet, Multus and host-device. The pod of the guide receives packets
 * from a port of igb with DPDK's testpmd as user 1500. The parts build on each other.
 */
import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import { eventually, findWorkspaceRoot } from "@switchyard/testing";
import { join } from "node:path";
import { disposeOf } from "../src/dispose-of.ts";
import { prepareHelm, type Helm } from "../src/helm/helm.ts";
import { device, network, pf, policy, pool, receivedPackets, sendPackets, tenant, testpmdPod } from "./afxdp-pods.ts";
import { nodeName, registryName, startKubeCluster, type KubeCluster } from "./kube-cluster.ts";
import { afxdpApps, imageValues, pushOwnImages } from "./own-images.ts";
import { createParts, createTimings } from "./timings.ts";
import { startRegistry, type Registry } from "./registry.ts";
import { pushTestpmd } from "./testpmd-image.ts";
import { pushThirdPartyImages } from "./third-party-images.ts";
import { namespace } from "./vf-pods.ts";

/** An idle machine needs seconds, a busy one minutes. */
const within = { withinMs: 900_000, everyMs: 500 };
const limitMs = 1_800_000;
const chart = join(findWorkspaceRoot(), "charts/switchyard");
const release = "switchyard";
const plugin = "daemonset/afxdp-device-plugin";
const timings = createTimings();
const part = createParts(limitMs);

let registry: Registry;
let cluster: KubeCluster;
let helm: Helm;
let values: Readonly<Record<string, unknown>>;
let testpmd: string;

beforeAll(async () => {
  registry = await startRegistry();
  const [started, own, thirdParty, image] = await Promise.all([
    timings.during("start of control plane and guest", () => startKubeCluster(registry)),
    timings.during("build and push of images", () => pushOwnImages(registry, afxdpApps)),
    pushThirdPartyImages(registry),
    pushTestpmd(registry),
  ]);
  cluster = started;
  testpmd = `${registryName}/${image}`;
  const hooks = { activeDeadlineSeconds: 900, giveHostsBack: { enabled: true } };
  values = { images: imageValues(own, thirdParty), hooks, afxdpOperatorConfig: { deploy: true } };
  const { controlPlane, directory } = cluster;
  helm = await prepareHelm("helm4", { kubeconfig: controlPlane.kubeconfig, namespace, directory });
  await timings.during("node Ready", () => cluster.nodeIsReady());
  await cluster.kubectl(["create", "namespace", tenant]);
}, limitMs);

afterAll(async () => {
  timings.print();
  await disposeOf(cluster, registry);
}, 120_000);

const apply = (object: object): Promise<string> => cluster.kubectl(["apply", "-f", "-"], object);
const own = (...args: readonly string[]): Promise<string> => cluster.kubectl([...args, "-n", namespace]);

async function isReady(...objects: readonly string[]): Promise<void> {
  await own("wait", "--for=condition=Ready", ...objects, "--timeout=15m");
}

/** Waits until the node can give so many devices to pods: "" if the kubelet does not know the resource. */
async function allocatable(...counts: readonly string[]): Promise<void> {
  const path = `jsonpath={.status.allocatable['afxdp/${pool}']}`;
  const holds = async (): Promise<boolean> =>
    counts.includes(await cluster.kubectl(["get", "node", nodeName, "-o", path]));
  await eventually(`${counts.join(" or ")} devices are allocatable`, holds, within);
}

/** Waits until testpmd in the pod reports more packets than now. */
async function receives(pod: string): Promise<void> {
  let before: number | undefined;
  const receivesMore = async (): Promise<boolean> => {
    const count = await receivedPackets(cluster, pod).catch(() => 0); // the container has not started
    if (count === 0) return false;
    before ??= count;
    return count > before;
  };
  await eventually(`pod ${pod} receives packets`, receivesMore, within);
}

const inPod = (pod: string, ...command: readonly string[]): Promise<string> =>
  cluster.kubectl(["exec", "-n", tenant, pod, "--", ...command]);

async function deletePod(name: string): Promise<void> {
  await cluster.kubectl(["delete", "pod", name, "-n", tenant, "--timeout=15m"]);
}

/** The device on the host with the name of its XDP program: "enp1s0f1 switchyard_xsk". Empty if it is in a pod. */
async function onHost(): Promise<string> {
  const shown = await cluster.inGuest(`ip -json -details link show dev ${device} 2>&-`);
  const links = (shown === "" ? [] : JSON.parse(shown)) as {
    readonly ifname?: string;
    readonly xdp?: { readonly prog: { readonly name: string } };
  }[];
  const [link] = links.filter(({ ifname }) => ifname === device);
  return link === undefined ? "" : [device, link.xdp?.prog.name].filter(Boolean).join(" ");
}

/** Maps and sockets for pods. */
const leftFiles = (): Promise<string> =>
  cluster.inGuest("cd /; find sys/fs/bpf/switchyard run/switchyard/afxdp ! -type d 2>&- | sort");

describe("AF_XDP in a cluster without SR-IOV", () => {
  part("is ready after helm install, and only what it needs is deployed", async () => {
    await timings.during("install to ready", async () => {
      await helm.run(["install", release, chart, "--create-namespace", "--wait", "--timeout", "15m"], values);
      await isReady("afxdpoperatorconfig/default");
      await eventually("all pods are Ready", async () => (await cluster.unreadyPods(namespace)).length === 0, within);
    });
    const daemonSets = await own("get", "daemonsets", "-o", "jsonpath={.items[*].metadata.name}");
    expect(daemonSets.split(" ").sort()).toEqual(["afxdp-device-plugin", "sriov-network-config-daemon"]);
  });

  part("offers a port of igb as a policy says", async () => {
    await timings.during("policy to allocatable", async () => {
      await apply(policy);
      await isReady("afxdpnetworknodepolicy/intel-nics");
      await allocatable("1");
    });
    expect(await onHost()).toBe(device);
  });

  part("gives the port to the pod of the guide, which receives packets as user 1500", async () => {
    await apply(network);
    await isReady("afxdpnetwork/fast-path");
    await sendPackets(cluster);
    await timings.during("pod receives packets", async () => {
      await apply(testpmdPod("one", testpmd));
      await receives("one");
    });
    // NET_RAW and IPC_LOCK, of the program's file.
    const status = await inPod("one", "cat", "/proc/1/status");
    expect(status).toMatch(/^Uid:\t1500\t1500\t1500\t1500$/m);
    for (const set of ["Prm", "Eff", "Bnd"]) expect(status).toMatch(new RegExp(`^Cap${set}:\\t0+6000$`, "m"));
    expect(await inPod("one", "cat", "/sys/class/net/net1/ifalias")).toBe(device);
    const socket = await inPod("one", "ls", "-ln", `/tmp/afxdp_dp/${device}/afxdp.sock`);
    expect(socket).toMatch(/^srw-rw---- +\d+ 1500 +0 /);
    expect(await onHost()).toBe("");
  });

  part("leaves a second pod Pending, because the only port is taken", async () => {
    await apply(testpmdPod("two", testpmd));
    const path = 'jsonpath={.status.phase}: {.status.conditions[?(@.type=="PodScheduled")].message}';
    const why = (): Promise<string> => cluster.kubectl(["get", "pod", "two", "-n", tenant, "-o", path]);
    const expected = new RegExp(`^Pending: .*Insufficient afxdp/${pool}`);
    await eventually("the scheduler says why", async () => expected.test(await why()), within);
  });

  part("offers it again after a restart of the kubelet, and the pod keeps it", async () => {
    const registrations = async (): Promise<number> =>
      (await own("logs", plugin)).split("\n").filter((line) => line.includes('"registered with the kubelet"')).length;
    const before = await registrations();
    await timings.during("restart of the kubelet to allocatable", async () => {
      await cluster.inGuest("systemctl restart kubelet");
      await eventually("the plugin registers again", async () => (await registrations()) > before, within);
      await allocatable("1");
    });
    await receives("one");
  });

  part("gives it to the second pod when the first is deleted", async () => {
    await timings.during("first pod deleted, second receives packets", async () => {
      await deletePod("one");
      await receives("two");
    });
  });

  part(
    "keeps the XDP program while the pod has the port after a change to provider upstream, and detaches it then",
    async () => {
      await own("patch", "afxdpoperatorconfig", "default", "--type=merge", "-p", '{"spec":{"provider":"upstream"}}');
      await own("wait", "--for=delete", plugin, "--timeout=15m");
      await own("wait", "--for=delete", "pod", "-l", "app=afxdp-device-plugin", "--timeout=15m");
      await allocatable("0", "");
      await receives("two");
      expect(await leftFiles()).toContain(`sys/fs/bpf/switchyard/afxdp/${device}/xsks_map`);
      await timings.during("pod deleted, XDP program detached", async () => {
        await deletePod("two");
        await eventually("the port has no XDP program", async () => (await onHost()) === device, within);
        const isLeft = async (): Promise<boolean> => (await leftFiles()).includes("xsks_map");
        await eventually("its map is gone", async () => !(await isLeft()), within);
      });
      expect(await own("logs", "daemonset/sriov-network-config-daemon")).toContain(
        "XDP programs of afxdp-device-plugin detached",
      );
    },
  );

  part("offers the port again with provider switchyard", async () => {
    await own("patch", "afxdpoperatorconfig", "default", "--type=merge", "-p", '{"spec":{"provider":"switchyard"}}');
    await allocatable("1");
    await apply(testpmdPod("three", testpmd));
    await receives("three");
    await deletePod("three");
    await eventually("the port is back", async () => (await onHost()) === `${device} switchyard_xsk`, within);
  });

  part("leaves no program, map, socket or device when the policy is deleted", async () => {
    await timings.during("policy deleted to nothing left", async () => {
      await own("delete", "afxdpnetworknodepolicy", "intel-nics");
      await allocatable("0", "");
      await eventually("the port has no XDP program", async () => (await onHost()) === device, within);
      await eventually("nothing is left", async () => (await leftFiles()) === "", within);
    });
    const path = `jsonpath={.status.interfaces[?(@.pciAddress=="${pf}")].owned}{.status.pools}`;
    const left = (): Promise<string> => own("get", "afxdpnetworknodestate", nodeName, "-o", path);
    await eventually("the state of the node says so", async () => ["", "[]"].includes(await left()), within);
  });

  part(
    "detaches the program of a port of which a policy exists when it is uninstalled, and gives the host back",
    async () => {
      await apply(policy);
      await allocatable("1");
      await apply(testpmdPod("four", testpmd));
      await receives("four");
      await deletePod("four");
      await eventually("the port is back", async () => (await onHost()) === `${device} switchyard_xsk`, within);
      await timings.during("helm uninstall, with the host given back", async () => {
        await helm.run(["uninstall", release, "--wait", "--timeout", "30m"]);
      });
      const kinds = "daemonsets,deployments,afxdpoperatorconfigs,afxdpnetworknodestates,jobs";
      await eventually(
        "nothing of the installation is left",
        async () => (await own("get", kinds, "-o", "name")) === "",
        within,
      );
      expect([await onHost(), await leftFiles()]).toEqual([device, ""]);
      expect(await cluster.inGuest("find /etc/sriov-operator /var/lib/switchyard -type f 2>&-")).toBe("");
    },
  );
});
