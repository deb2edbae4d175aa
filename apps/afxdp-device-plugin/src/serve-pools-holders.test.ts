// SPDX-License-Identifier: Apache-2.0
/** What pods have stays with them, and what they leave is removed. */
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attachXdp, openPinnedXskMap } from "@switchyard/netlink";
import { createNetworkNamespace, loadForeignXdpProgram, missingForNamespaces } from "@switchyard/netlink/testing";
import { connectMapClient } from "./testing/map-client.ts";
import { createPoolServerNode, podWith, poolOf, type PoolServerNode } from "./testing/pool-server-node.ts";

const missing = missingForNamespaces();

(missing === undefined ? describe : describe.skip)("createPoolServer, with devices of pods", () => {
  let node: PoolServerNode;
  beforeEach(async () => {
    node = await createPoolServerNode();
  });
  afterEach(async () => {
    await node[Symbol.asyncDispose]();
  });

  async function connect(device: string): Promise<string> {
    using client = connectMapClient(join(node.directory, "sockets", device, "afxdp.sock"));
    return await client.ask("/connect,app");
  }

  async function attachForeign(device: string): Promise<void> {
    await node.namespace.run("ip", "link", "set", device, "up");
    using foreign = loadForeignXdpProgram("xsk_def_prog");
    await attachXdp(node.links, device, { program: foreign, mode: "native" });
  }

  it("gives a device of a pod to no other pod when its pool gets another name", async () => {
    await node.offer(poolOf("intel", ["v0", "v1"]));
    await node.kubelet.allocate("afxdp/intel", ["v0"]);
    node.kubelet.pods = [podWith("intel", "v0")];
    const problem = "device v0: stays in its earlier pool intel until no pod has it as afxdp/intel";
    const fast = poolOf("fast", ["v0", "v1"]);
    expect(await node.offer(fast)).toEqual([{ name: "fast", announced: 2, healthy: 1, problems: [problem] }]);
    await expect(node.kubelet.allocate("afxdp/fast", ["v0"])).rejects.toMatchObject({
      details: expect.stringContaining("stays in its earlier pool intel"),
    });
    expect(await connect("v0")).toBe("/host_ok"); // a container of the pod that starts again
    await node.restart();
    expect(await node.offer(fast)).toMatchObject([{ healthy: 1, problems: [problem] }]);
    expect(await connect("v0")).toBe("/host_ok");
    expect(await node.programsOf("v0")).toHaveLength(1);
    node.kubelet.pods = [];
    expect(await node.update()).toMatchObject([{ healthy: 2, problems: [] }]);
    expect(await node.programsOf("v0")).toEqual([]);
    await node.kubelet.allocate("afxdp/fast", ["v0"]);
  });

  it("keeps the user of a pool for a device of a pod, until the next pod", async () => {
    const owner = () => statSync(join(node.directory, "sockets", "v0", "afxdp.sock")).uid;
    await node.offer(poolOf("intel", ["v0"], { uid: 1500 }));
    await node.kubelet.allocate("afxdp/intel", ["v0"]);
    node.kubelet.pods = [podWith("intel", "v0")];
    const next = poolOf("intel", ["v0"], { uid: 1600 });
    expect(await node.offer(next)).toMatchObject([{ healthy: 1, problems: [] }]);
    expect(owner()).toBe(1500);
    await node.kubelet.allocate("afxdp/intel", ["v0"]);
    expect(owner()).toBe(1600);
  });

  it("removes the program of a killed pod when the kubelet says that nobody has the device, and no other program", async () => {
    const pool = poolOf("own", ["v0", "v1"], { hasSocket: false });
    await node.offer(pool);
    await node.kubelet.allocate("afxdp/own", ["v0"]);
    node.kubelet.pods = [podWith("own", "v0")];
    await attachForeign("v0");
    await attachForeign("v1"); // by a program of the host: no pod has had the device
    const foreign = expect.stringMatching(/^device v1: it has an XDP program that Switchyard did not attach/);
    expect(await node.update()).toMatchObject([{ healthy: 1, problems: [foreign] }]);
    await node.restart();
    node.kubelet.pods = undefined;
    await node.update();
    expect(await node.programsOf("v0")).toHaveLength(1);
    node.kubelet.pods = [];
    expect(await node.update()).toMatchObject([{ healthy: 1, problems: [foreign] }]);
    expect([await node.programsOf("v0"), (await node.programsOf("v1")).length]).toEqual([[], 1]);
    // What somebody attaches after the pod is theirs.
    await attachForeign("v0");
    expect(await node.update()).toMatchObject([{ healthy: 0 }]);
    expect(await node.programsOf("v0")).toHaveLength(1);
  });

  it("removes what a pod attached in its own network namespace, where nobody has seen it", async () => {
    await node.offer(poolOf("intel", ["v0"]));
    await node.kubelet.allocate("afxdp/intel", ["v0"]);
    node.kubelet.pods = [podWith("intel", "v0")];
    await using pod = await createNetworkNamespace();
    const pidOf = ({ path }: { readonly path: string }) => /\/proc\/(\d+)\//.exec(path)?.[1] ?? "";
    await node.namespace.run("ip", "link", "set", "v0", "netns", pidOf(pod));
    await node.update();
    await pod.run("ip", "link", "set", "v0", "xdp", "off");
    await pod.run("ip", "link", "set", "v0", "netns", pidOf(node.namespace));
    await attachForeign("v0"); // as the program of the pod
    node.kubelet.pods = [];
    expect(await node.update()).toMatchObject([{ healthy: 1, problems: [] }]);
    expect(await node.programsOf("v0")).toEqual([]);
  });

  it("makes a socket again that another process of the plugin has removed, and removes none of another one", async () => {
    await node.offer(poolOf("intel", ["v0", "v1"]));
    node.kubelet.pods = [podWith("intel", "v0")];
    rmSync(join(node.directory, "sockets"), { recursive: true });
    await node.update();
    expect(await connect("v0")).toBe("/host_ok");
    const other = join(node.directory, "sockets", "v1", "afxdp.sock");
    rmSync(other);
    writeFileSync(other, "");
    await node.stop();
    expect([existsSync(other), existsSync(join(node.directory, "sockets", "v0", "afxdp.sock"))]).toEqual([true, false]);
  });

  it("offers no device without a BPF file system, and says which one is missing", async () => {
    const bpf = join(node.directory, "bpf");
    mkdirSync(bpf);
    node.maps = join(bpf, "switchyard", "afxdp");
    await node.restart();
    const problem = `${bpf} is on no BPF file system: mount one with "mount -t bpf bpf ${bpf}"`;
    expect(await node.offer(poolOf("intel", ["v0"]))).toMatchObject([{ healthy: 0, problems: [problem] }]);
    // A program in a pod needs no map of the plugin.
    expect(await node.offer(poolOf("own", ["v1"], { hasSocket: false }))).toMatchObject([{ healthy: 1, problems: [] }]);
  });

  it("attaches its program at an MTU for which packets are in several buffers, for all queues", async () => {
    await node.namespace.run("sh", "-c", "ip link set p0 mtu 9000; ip link set v0 mtu 9000 up");
    const devices = [{ id: "v0", name: "v0", key: "v0", queues: 1 }];
    expect(await node.offer(poolOf("intel", [], { devices }))).toMatchObject([{ healthy: 1, problems: [] }]);
    expect(await node.programsOf("v0")).toEqual([]); // it was only tried
    await node.kubelet.allocate("afxdp/intel", ["v0"]);
    await node.offer(poolOf("intel", [], { devices: [{ id: "v0", name: "v0", key: "v0", queues: 8 }] }));
    await node.kubelet.allocate("afxdp/intel", ["v0"]);
    using map = openPinnedXskMap(`${node.maps}/v0/xsks_map`);
    expect(map.queues).toBe(8);
  });
});
