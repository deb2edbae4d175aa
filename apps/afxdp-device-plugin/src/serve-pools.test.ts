// SPDX-License-Identifier: Apache-2.0
/**
 * The kernel, its XDP programs and AF_XDP sockets, gRPC and Unix sockets are real; the kubelet is a fake that speaks the real protocols.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  attachXdp,
  createXskMap,
  getLink,
  NetlinkSocket,
  openPinnedXskMap,
  openXdpProgram,
  protocols,
} from "@switchyard/netlink";
import {
  createNetworkNamespace,
  loadForeignXdpProgram,
  missingForNamespaces,
  openXdpSocket,
  type NetworkNamespace,
} from "@switchyard/netlink/testing";
import { Registry } from "@switchyard/service";
import type { PodDevices } from "@switchyard/kubelet";
import { createPluginMetrics } from "./plugin-metrics.ts";
import type { NodePool } from "./pools/node-pools.ts";
import { createPoolServer, type PoolServer } from "./serve-pools.ts";
import { startFakeKubelet, type FakeKubelet } from "@switchyard/kubelet/testing";
import { connectMapClient } from "./testing/map-client.ts";
import { silentLogger } from "@switchyard/service/testing";

const missing = missingForNamespaces();
const signal = new AbortController().signal;
const resource = "afxdp/intel";

(missing === undefined ? describe : describe.skip)("createPoolServer", () => {
  let namespace: NetworkNamespace;
  let links: NetlinkSocket;
  let directory = "";
  let kubelet: FakeKubelet;
  let server: PoolServer;

  beforeAll(async () => {
    namespace = await createNetworkNamespace();
    links = new NetlinkSocket({ protocol: protocols.route, netns: namespace.path });
    await namespace.run("mount", "-t", "bpf", "bpf", "/mnt");
  });
  afterAll(async () => {
    await links[Symbol.asyncDispose]();
    await namespace[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    const sh =
      "for n in 0 1; do ip link del v$n 2>&-; ip link add v$n type veth peer name p$n; ip link set p$n up; done";
    await namespace.run("sh", "-c", `rm -rf /mnt/*; ${sh}`);
    directory = mkdtempSync(join(tmpdir(), "afxdp-"));
    kubelet = await startFakeKubelet(directory);
    server = await start();
  });
  afterEach(async () => {
    await server[Symbol.asyncDispose]();
    await kubelet[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true });
  });

  function start(loader: "builtin" | "bpfman" = "builtin"): Promise<PoolServer> {
    return createPoolServer({
      paths: {
        kubelet: directory,
        sockets: join(directory, "sockets"),
        maps: `${namespace.root}/mnt`,
        record: join(directory, "record", "pools.json"),
        unprivilegedBpf: join(directory, "unprivileged_bpf_disabled"),
      },
      loader,
      settlingMs: 0,
      netns: namespace.path,
      metrics: createPluginMetrics(new Registry()),
      log: silentLogger,
    });
  }

  const pool = (settings: Partial<NodePool> = {}): NodePool => ({
    name: "intel",
    hasSocket: true,
    hasPinnedMap: false,
    idleTimeoutMs: 0,
    uid: 0,
    requiresUnprivilegedBpf: false,
    devices: ["v0", "v1"].map((name) => ({ id: name, name, key: name, queues: 1 })),
    ...settings,
  });

  const podWith = (name: string, ...ids: string[]): PodDevices => ({
    name,
    namespace: "default",
    containers: [{ name: "app", devices: ids.map((id) => ({ resourceName: resource, ids: [id] })) }],
  });

  async function offer(...pools: readonly NodePool[]): Promise<void> {
    await server.setPools(pools);
    await server.update(signal);
  }

  async function programOf(device: string): Promise<{ id: number; name: string } | undefined> {
    const [shown] = JSON.parse(await namespace.run("ip", "-json", "-details", "link", "show", device)) as [
      { xdp?: { prog: { id: number; name: string } } },
    ];
    return shown.xdp?.prog;
  }

  const healthy = (ids: readonly string[]) => ids.map((id) => ({ id, isHealthy: true }));

  it("announces the devices and gives a container its environment, sockets and XDP programs", async () => {
    await offer(pool());
    await kubelet.until(resource, (devices) => devices?.length === 2);
    expect(kubelet.registrations).toEqual([
      { version: "v1beta1", endpoint: "afxdp-intel.sock", resourceName: resource },
    ]);
    expect(kubelet.lists(resource).at(-1)).toEqual(healthy(["v0", "v1"]));
    expect(await programOf("v0")).toBeUndefined();
    const allocation = await kubelet.allocate(resource, ["v1", "v0"]);
    const mount = (device: string) => ({
      containerPath: `/tmp/afxdp_dp/${device}`,
      hostPath: join(directory, "sockets", device),
      isReadOnly: true,
    });
    expect(allocation).toEqual({ environment: { AFXDP_DEVICES_INTEL: "v0 v1" }, mounts: [mount("v0"), mount("v1")] });
    expect([(await programOf("v0"))?.name, (await programOf("v1"))?.name]).toEqual([
      "switchyard_xsk",
      "switchyard_xsk",
    ]);
  });

  it("passes the map over the socket, again after a restart of the container, and packets arrive", async () => {
    await offer(pool());
    await kubelet.until(resource, (devices) => devices?.length === 2);
    await kubelet.allocate(resource, ["v0"]);
    kubelet.pods = [podWith("other", "v1"), podWith("app", "v0")];
    const path = join(directory, "sockets", "v0", "afxdp.sock");
    for (let restart = 0; restart < 2; restart++) {
      using client = connectMapClient(path);
      expect(await client.ask("/connect,app")).toBe("/host_ok");
      expect(await client.ask("/version")).toBe("0.1");
      expect(await client.ask("/xsk_map_fd,v0")).toBe("/fd_ack");
      expect(await client.ask("/fin")).toBe("/fin_ack");
      if (restart === 0) continue;
      const [map = -1] = client.passed;
      await namespace.run("ip", "link", "set", "v0", "up");
      const { index } = await getLink(links, "v0");
      using xsk = openXdpSocket({ ifindex: index, queue: 0, netns: namespace.path });
      xsk.addTo(map);
      await namespace.run("sh", "-c", "ip address replace 192.0.2.1/24 dev p0");
      await namespace.run("ip", "neigh", "replace", "192.0.2.77", "lladdr", "02:00:00:00:00:77", "dev", "p0");
      await namespace.run("bash", "-c", "printf 'hello, pod' >/dev/udp/192.0.2.77/9");
      const packets: Buffer[] = [];
      while (!packets.some((packet) => packet.includes("hello, pod"))) {
        packets.push(...xsk.receive());
        await delay(10);
      }
    }
    using stranger = connectMapClient(path);
    expect(await stranger.ask("/connect,other")).toBe("/host_nak");
  });

  it("announces devices by their ids, and serves a pod that knows neither id nor name", async () => {
    const [id, earlier] = ["0000:86:00.0", "v0"];
    await offer(pool({ devices: [{ id, name: "v0", key: id, queues: 1 }] }));
    await kubelet.until(resource, (devices) => devices?.length === 1);
    expect(kubelet.lists(resource).at(-1)).toEqual(healthy([id]));
    const { environment, mounts } = await kubelet.allocate(resource, [id]);
    expect([environment, mounts[0]?.containerPath]).toEqual([{ AFXDP_DEVICES_INTEL: "v0" }, "/tmp/afxdp_dp/v0"]);
    expect((await programOf("v0"))?.name).toBe("switchyard_xsk");
    for (const held of [id, earlier]) {
      kubelet.pods = [podWith("app", held)];
      using client = connectMapClient(join(directory, "sockets", "v0", "afxdp.sock"));
      expect(await client.ask("/connect,app")).toBe("/host_ok");
      expect(await client.ask("/xsk_map_fd,net1")).toBe("/fd_ack");
    }
    // In a pod, with its id, and with the id of an earlier version, by which the kubelet does not know that it is in use.
    await using pod = await createNetworkNamespace();
    const pid = /\/proc\/(\d+)\//.exec(pod.path)?.[1] ?? "";
    await namespace.run("ip", "link", "set", "v0", "netns", pid);
    const [served] = (await server.update(signal)).pools;
    expect(served).toMatchObject({ healthy: 0, problems: ["device v0: a pod has it by its earlier id v0"] });
    kubelet.pods = [podWith("app", id)];
    expect((await server.update(signal)).pools).toMatchObject([{ healthy: 1, problems: [] }]);
    await offer();
    expect(await server.update(signal)).toEqual({ pools: [], isUnfinished: true });
    kubelet.pods = [];
    expect(await server.update(signal)).toEqual({ pools: [], isUnfinished: false });
  });

  it("gives access to the user of the pool: socket, directory and pinned map", async () => {
    await offer(pool({ uid: 1500, hasPinnedMap: true }));
    await kubelet.until(resource, (devices) => devices?.length === 2);
    const { mounts } = await kubelet.allocate(resource, ["v0"]);
    const map = `${namespace.root}/mnt/v0/xsks_map`;
    expect(mounts).toContainEqual({ containerPath: "/tmp/afxdp_dp/v0/xsks_map", hostPath: map, isReadOnly: false });
    expect(statSync(map)).toMatchObject({ uid: 1500, gid: 0, mode: 0o100600 });
    const socket = statSync(join(directory, "sockets", "v0", "afxdp.sock"));
    expect({ uid: socket.uid, gid: socket.gid, mode: socket.mode & 0o777 }).toEqual({ uid: 1500, gid: 0, mode: 0o660 });
    expect(statSync(join(directory, "sockets", "v0")).mode & 0o777).toBe(0o711);
    // A user of the host can have the user id of the pool.
    expect(statSync(join(directory, "sockets")).mode & 0o777).toBe(0o700);
  });

  it("keeps programs, maps and sockets over a restart of the plugin, without the API server", async () => {
    await offer(pool());
    await kubelet.until(resource, (devices) => devices?.length === 2);
    await kubelet.allocate(resource, ["v0"]);
    kubelet.pods = [podWith("app", "v0")];
    const before = await programOf("v0");
    await server[Symbol.asyncDispose]();
    await kubelet.until(resource, (devices) => devices === undefined);
    expect(await programOf("v0")).toEqual(before);

    server = await start();
    await server.update(signal);
    await kubelet.until(resource, (devices) => devices?.length === 2);
    using client = connectMapClient(join(directory, "sockets", "v0", "afxdp.sock"));
    expect(await client.ask("/connect,app")).toBe("/host_ok");
    expect(await client.ask("/xsk_map_fd,v0")).toBe("/fd_ack");
    expect(await programOf("v0")).toEqual(before);
  });

  /** The map that the next pod gets, and that of the attached program. */
  async function mapsOf(device: string): Promise<{ pinned: number; queues: number; used: readonly number[] }> {
    using map = openPinnedXskMap(`${namespace.root}/mnt/${device}/xsks_map`);
    using program = openXdpProgram((await programOf(device))?.id ?? 0);
    return { pinned: map.id, queues: map.queues, used: program.mapIds };
  }

  it("gives each pod another map than the pod before, also if the file of the map is gone", async () => {
    await offer(pool());
    await kubelet.until(resource, (devices) => devices?.length === 2);
    const seen: number[] = [];
    for (let count = 0; count < 3; count++) {
      await kubelet.allocate(resource, ["v0"]);
      const { pinned, used } = await mapsOf("v0");
      expect(used).toEqual([pinned]);
      expect(seen).not.toContain(pinned);
      seen.push(pinned);
      if (count === 1) rmSync(`${namespace.root}/mnt/v0/xsks_map`);
    }
  });

  it("leaves a container that still has the directory of an earlier allocation no socket and no connection", async () => {
    await offer(pool({ hasPinnedMap: true }));
    await kubelet.until(resource, (devices) => devices?.length === 2);
    await kubelet.allocate(resource, ["v0"]);
    kubelet.pods = [podWith("app", "v0")];
    const path = join(directory, "sockets", "v0");
    using connected = connectMapClient(join(path, "afxdp.sock"));
    expect(await connected.ask("/connect,app")).toBe("/host_ok");
    // As a mount does, the descriptor keeps the directory.
    const mount = openSync(path, "r");
    const mounted = `/proc/self/fd/${mount}`;
    try {
      expect(readdirSync(mounted).sort()).toEqual(["afxdp.sock", "xsks_map"]);
      await kubelet.allocate(resource, ["v0"]);
      expect(readdirSync(mounted)).toEqual([]);
      expect(() => connectMapClient(`${mounted}/afxdp.sock`)).toThrow("errno 2");
      expect(await connected.ask("/xsk_map_fd,v0")).toBe("");
      using next = connectMapClient(join(path, "afxdp.sock"));
      expect(await next.ask("/connect,app")).toBe("/host_ok");
      expect(readdirSync(path).sort()).toEqual(["afxdp.sock", "xsks_map"]);
    } finally {
      closeSync(mount);
    }
  });

  it("gives no pod the map of a program that somebody else attached with our name", async () => {
    const devices = [{ id: "v0", name: "v0", key: "v0", queues: 64 }];
    await offer(pool({ devices }));
    await kubelet.until(resource, (offered) => offered?.length === 1);
    await namespace.run("sh", "-c", "ip link set v0 up");
    using map = createXskMap({ queues: 4 });
    using same = loadForeignXdpProgram("switchyard_xsk", map);
    await attachXdp(links, "v0", { program: same, mode: "native" });
    await kubelet.allocate(resource, ["v0"]);
    const given = await mapsOf("v0");
    expect(given).toEqual({ pinned: expect.any(Number), queues: 64, used: [given.pinned] });
    expect(given.pinned).not.toBe(map.id);
    await offer();
    await server.update(signal);

    using other = loadForeignXdpProgram("switchyard_xsk");
    await attachXdp(links, "v0", { program: other, mode: "native" });
    await offer(pool({ devices }));
    expect((await server.update(signal)).pools).toMatchObject([
      { healthy: 0, problems: [expect.stringMatching(/^device v0: it has an XDP program that/)] },
    ]);
    await expect(kubelet.allocate(resource, ["v0"])).rejects.toMatchObject({
      details: expect.stringMatching(/program \d+ \(switchyard_xsk\)/),
    });
  });

  it("registers again after a restart of the kubelet, which removes the plugin's socket", async () => {
    await offer(pool());
    await kubelet.until(resource, (devices) => devices?.length === 2);
    await kubelet[Symbol.asyncDispose]();
    kubelet = await startFakeKubelet(directory);
    await kubelet.until(resource, (devices) => devices?.length === 2);
    expect(kubelet.registrations).toHaveLength(1);
  });

  it("waits for a kubelet that starts late", async () => {
    await kubelet[Symbol.asyncDispose]();
    rmSync(join(directory, "device-plugins"), { recursive: true });
    await offer(pool());
    await delay(50);
    kubelet = await startFakeKubelet(directory);
    await kubelet.until(resource, (devices) => devices?.length === 2);
  });

  it("keeps a device healthy that a pod has taken, and reports one that has disappeared", async () => {
    await offer(pool());
    await kubelet.until(resource, (devices) => devices?.length === 2);
    await using pod = await createNetworkNamespace();
    const pid = /\/proc\/(\d+)\//.exec(pod.path)?.[1] ?? "";
    kubelet.pods = [podWith("app", "v0")];
    await namespace.run("ip", "link", "set", "v0", "netns", pid);
    expect((await server.update(signal)).pools).toEqual([{ name: "intel", announced: 2, healthy: 2, problems: [] }]);
    // The kubelet does not answer: nothing changes.
    kubelet.pods = undefined;
    expect(await server.update(signal)).toMatchObject({ pools: [{ healthy: 2 }], isUnfinished: true });
    kubelet.pods = [];
    const [served] = (await server.update(signal)).pools;
    const problem = "device v0: the network interface does not exist on the host";
    expect(served).toMatchObject({ announced: 2, healthy: 1, problems: [problem] });
    await kubelet.until(resource, (devices) => devices?.some(({ isHealthy }) => !isHealthy) === true);
  });

  it("leaves an XDP program of somebody else unchanged, and says so", async () => {
    await offer(pool());
    await kubelet.until(resource, (devices) => devices?.length === 2);
    await namespace.run("sh", "-c", "ip link set v0 up; ip link set v1 up");
    using foreign = loadForeignXdpProgram("foreign");
    await attachXdp(links, "v0", { program: foreign, mode: "native" });
    const before = await programOf("v0");
    const [served] = (await server.update(signal)).pools;
    expect(served).toMatchObject({
      healthy: 1,
      problems: [expect.stringMatching(/^device v0: it has an XDP program that/)],
    });
    await expect(kubelet.allocate(resource, ["v0"])).rejects.toMatchObject({
      details: expect.stringMatching(
        /^device v0 has an XDP program that Switchyard did not attach: program \d+ \(foreign\)/,
      ),
    });
    await offer();
    expect(await programOf("v0")).toEqual(before);
  });

  it("does not offer a device whose driver refuses the program, says why in its words, and offers it when it no longer does", async () => {
    const refusal = /attach XDP program \d+ in native mode to v0: EEXIST \(.*an upper device already has a program/;
    await namespace.run("sh", "-c", "ip link add br0 type bridge; ip link set v0 master br0; ip link set v0 up");
    using above = loadForeignXdpProgram("above");
    await attachXdp(links, "br0", { program: above, mode: "generic" });
    // Before a pod has paid for it.
    await offer(pool());
    await kubelet.until(resource, (devices) => devices?.some(({ isHealthy }) => !isHealthy) === true);
    let changes = 0;
    const end = server.subscribe(() => changes++);
    await expect(kubelet.allocate(resource, ["v0"])).rejects.toMatchObject({ details: expect.stringMatching(refusal) });
    expect(changes).toBe(1);
    end();
    expect((await server.update(signal)).pools).toMatchObject([
      { healthy: 1, problems: [expect.stringMatching(new RegExp(`^device v0: ${refusal.source}`))] },
    ]);
    await namespace.run("ip", "link", "del", "br0");
    expect((await server.update(signal)).pools).toMatchObject([{ healthy: 2, problems: [] }]);
    expect(await programOf("v0")).toBeUndefined();
    await kubelet.allocate(resource, ["v0"]);
    expect((await programOf("v0"))?.name).toBe("switchyard_xsk");
  });

  it("withdraws a pool: first an empty list, then the socket; programs go when no pod has the device", async () => {
    await offer(pool());
    await kubelet.until(resource, (devices) => devices?.length === 2);
    await kubelet.allocate(resource, ["v0"]);
    kubelet.pods = [podWith("app", "v0")];
    await offer();
    await kubelet.until(resource, (devices) => devices === undefined);
    expect(kubelet.lists(resource).at(-1)).toEqual([]);
    expect(existsSync(join(directory, "device-plugins", "afxdp-intel.sock"))).toBe(false);
    expect((await programOf("v0"))?.name).toBe("switchyard_xsk");
    using client = connectMapClient(join(directory, "sockets", "v0", "afxdp.sock"));
    expect(await client.ask("/connect,app")).toBe("/host_ok"); // a restarted container of the pod
    // Unknown is not unwanted, and a restart changes nothing.
    kubelet.pods = undefined;
    expect(await server.update(signal)).toEqual({ pools: [], isUnfinished: true });
    await server[Symbol.asyncDispose]();
    server = await start();
    expect((await programOf("v0"))?.name).toBe("switchyard_xsk");
    kubelet.pods = [];
    expect(await server.update(signal)).toEqual({ pools: [], isUnfinished: false });
    expect(await programOf("v0")).toBeUndefined();
    expect([existsSync(`${namespace.root}/mnt/v0`), existsSync(join(directory, "sockets", "v0"))]).toEqual([
      false,
      false,
    ]);
  });

  it.each([
    { kubelet: "has just started", at: undefined },
    { kubelet: "has started while the clock was in 1970", at: new Date(90_000) },
    { kubelet: "has started while the clock was years ahead", at: new Date("2040-01-01T00:00:00Z") },
  ])("keeps the program of a withdrawn device while a kubelet that $kubelet may not list its pod", async ({ at }) => {
    await offer(pool());
    await kubelet.until(resource, (devices) => devices?.length === 2);
    await kubelet.allocate(resource, ["v0"]);
    await kubelet[Symbol.asyncDispose]();
    kubelet = await startFakeKubelet(directory, { isNew: true });
    if (at !== undefined) utimesSync(join(directory, "pod-resources/kubelet.sock"), at, at);
    await offer();
    expect((await programOf("v0"))?.name).toBe("switchyard_xsk");
    expect((await server.update(signal)).isUnfinished).toBe(true);
    const aMinuteAgo = new Date(Date.now() - 60_000);
    utimesSync(join(directory, "pod-resources/kubelet.sock"), aMinuteAgo, aMinuteAgo);
    await delay(300); // answers of the kubelet are shared
    await server.update(signal);
    expect(await programOf("v0")).toBeUndefined();
  });

  it("detaches its programs from devices that no pod has when it ends, if the kubelet says so", async () => {
    await offer(pool());
    await kubelet.until(resource, (devices) => devices?.length === 2);
    await kubelet.allocate(resource, ["v0", "v1"]);
    kubelet.pods = undefined;
    await server[Symbol.asyncDispose]();
    expect([(await programOf("v0"))?.name, (await programOf("v1"))?.name]).toEqual(Array(2).fill("switchyard_xsk"));
    server = await start();
    kubelet.pods = [podWith("app", "v0")];
    await server[Symbol.asyncDispose]();
    expect([(await programOf("v0"))?.name, await programOf("v1")]).toEqual(["switchyard_xsk", undefined]);
    expect([existsSync(`${namespace.root}/mnt/v0`), existsSync(`${namespace.root}/mnt/v1`)]).toEqual([true, false]);
    server = await start();
    await server.update(signal);
    await kubelet.until(resource, (devices) => devices?.length === 2);
    await kubelet.allocate(resource, ["v1"]);
    expect((await programOf("v1"))?.name).toBe("switchyard_xsk");
  });

  it("keeps the map of a device in a pod when it ends, also if the kubelet has just started and lists no pods yet", async () => {
    await offer(pool());
    await kubelet.until(resource, (devices) => devices?.length === 2);
    await kubelet.allocate(resource, ["v0", "v1"]);
    await using pod = await createNetworkNamespace();
    const pid = /\/proc\/(\d+)\//.exec(pod.path)?.[1] ?? "";
    await namespace.run("ip", "link", "set", "v0", "netns", pid);
    await server[Symbol.asyncDispose]();
    server = await start();
    kubelet.pods = [];
    await server[Symbol.asyncDispose]();
    expect([existsSync(`${namespace.root}/mnt/v0`), existsSync(`${namespace.root}/mnt/v1`)]).toEqual([true, false]);
    server = await start();
  });

  it("refuses devices that are not in the pool, and prefers devices of one NUMA node", async () => {
    const devices = ["v0", "v1"].map((name, numaNode) => ({ id: name, name, key: name, queues: 1, numaNode }));
    await offer(pool({ devices }));
    await kubelet.until(resource, (list) => list?.length === 2);
    expect(kubelet.lists(resource).at(-1)).toMatchObject([{ numaNode: 0 }, { numaNode: 1 }]);
    expect(await kubelet.prefer(resource, ["v1", "v0"], 1)).toEqual(["v0"]);
    await expect(kubelet.allocate(resource, ["eth9"])).rejects.toMatchObject({
      details: 'device "eth9" is not in the pool',
    });
  });
});
