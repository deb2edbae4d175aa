// SPDX-License-Identifier: Apache-2.0
import { beforeEach, describe, expect, it } from "@jest/globals";
import type { Host, UpstreamDevice } from "@switchyard/host";
import { createFakeKernel, igb, pci, type FakeKernel } from "@switchyard/host/testing";
import { kubeletWith, type KubeletWith } from "../../testing/kubelet-with.ts";
import { killedAtWrite } from "../../testing/killed-at-write.ts";
import { createPluginLeftovers } from "./plugin-leftovers.ts";
import { nothingWanted, type WantedFromPlugins } from "./wanted-from-plugins.ts";

const [pf, second] = ["0000:01:00.0", "0000:01:00.1"];
const left = { id: 7, name: "xsk_def_prog", mode: "native", isOwn: false } as const;
const mount = "/run/afxdp_dp/fast/3f2b8a10-1111-4222-8333-0123456789ab";
const socket = "/tmp/afxdp_dp/afxdp_fast/3f2b8a10-1111-4222-8333-0123456789ab.sock";
const nothing = { released: [], kept: [], problems: [] };
const soon = "free, but not long enough to be certain";
const detached = "detach XDP program xsk_def_prog from eth0";
const removed = [`unmount ${mount} and remove it`, `remove ${socket}`];
const forgotten = (device = pf) => `remove the record that the plugins of upstream had ${device}`;

let kernel: FakeKernel;
let kubelet: KubeletWith;
let removal: ReturnType<typeof createPluginLeftovers>;
let record: UpstreamDevice;
let nowMs = 0;
beforeEach(async () => {
  kernel = createFakeKernel({ nics: [igb(pf)], udevMs: "none" });
  kubelet = kubeletWith();
  start();
  const bootId = await kernel.host().boot.readBootId();
  record = { device: pf, bootId, names: ["eth0"], pools: ["fast"] };
  kernel.pluginLeftovers.record(record);
});

/** Starts a daemon, which remembers nothing. */
function start(): void {
  removal = createPluginLeftovers({ readKubelet: (signal) => kubelet.read(signal), nowMs: () => nowMs });
}

interface Given {
  readonly host?: Host;
  readonly wanted?: WantedFromPlugins;
  readonly keepsPrograms?: boolean;
  readonly afterMs?: number;
}

function release({
  host = kernel.host(),
  wanted = nothingWanted,
  keepsPrograms = false,
  afterMs = 10_000,
}: Given = {}) {
  nowMs += afterMs;
  return removal.release(host, { wanted, keepsPrograms }, new AbortController().signal);
}

/** Two looks, as far apart as is needed. */
async function releaseTwice(given: Given = {}) {
  await release(given);
  return release(given);
}

/** As the plugin leaves a node on which a pod was not ended by the CNI plugin. */
function leave(): void {
  kernel.attachXdpProgram("eth0", left);
  kernel.pluginLeftovers.addMount(mount);
  kernel.pluginLeftovers.addSocket(socket);
}

const programs = async (name = "eth0") => (await kernel.host().xdp.readPrograms(name)).map(({ id }) => id);
const paths = () => kernel.pluginLeftovers.listPaths();
const records = async () => (await kernel.host().pluginLeftovers.listDevices()).map(({ device }) => device);
const wanting = (devices: readonly string[], pools: readonly string[]): WantedFromPlugins => {
  return { isDeployed: true, devices: new Set(devices), pools: new Set(pools) };
};

describe("what the plugins of upstream have left", () => {
  it("is removed when the kubelet says twice that no pod has the device or its pool, and the record last", async () => {
    leave();
    const kept = [
      { name: "eth0", why: soon },
      { name: "pool fast", why: soon },
    ];
    expect(await release()).toEqual({ ...nothing, kept });
    expect(await release({ afterMs: 9_999 })).toEqual({ ...nothing, kept });
    expect([await programs(), paths(), await records()]).toEqual([[7], [mount, socket], [pf]]);
    expect(await release({ afterMs: 1 })).toEqual({ ...nothing, released: [detached, ...removed, forgotten()] });
    expect([await programs(), paths(), await records()]).toEqual([[], [], []]);
    kubelet.error = "not asked any more";
    expect(await release()).toEqual(nothing);
    expect(kernel.writes.at(-2)).toMatchObject({ port: "pluginLeftovers", method: "removeDevice" });
  });

  it("stays without a record: it is not known whose it is", async () => {
    leave();
    await kernel.host().pluginLeftovers.removeDevice(pf);
    expect(await releaseTwice()).toEqual(nothing);
    kernel.pluginLeftovers.writeRecord(pf, "{}");
    expect(await releaseTwice()).toEqual(nothing);
    expect([await programs(), paths()]).toEqual([[7], [mount, socket]]);
  });

  it("stays while the plugin serves the device and the pool", async () => {
    leave();
    expect(await releaseTwice({ wanted: wanting([pf], ["fast"]) })).toEqual(nothing);
    expect([await programs(), paths()]).toEqual([[7], [mount, socket]]);
  });

  it("stays on a device, and in a pool, that pods have", async () => {
    leave();
    Object.assign(kubelet, { held: ["eth0"], heldPools: ["fast"] });
    const kept = [
      { name: "eth0", why: "in use by a pod" },
      { name: "pool fast", why: "pods have devices of the pool" },
    ];
    for (let hour = 0; hour < 3; hour++) expect(await release({ afterMs: 3_600_000 })).toEqual({ ...nothing, kept });
    Object.assign(kubelet, { held: [] }); // another device of the pool is in a pod
    expect(await releaseTwice()).toMatchObject({ released: [detached], kept: kept.slice(1) });
    expect([paths(), await records()]).toEqual([[mount, socket], [pf]]);
  });

  it.each([
    { given: { held: [pf] }, why: "in use by a pod" }, // by afxdp-device-plugin
    { given: { held: ["old0"] }, why: "in use by a pod" }, // renamed since
    { given: { offered: ["eth0"] }, why: "offered to pods by a device plugin" },
  ])("stays on a device that is $why ($given)", async ({ given, why }) => {
    leave();
    kernel.pluginLeftovers.record({ ...record, names: ["eth0", "old0"] });
    Object.assign(kubelet, given);
    expect((await releaseTwice()).kept).toContainEqual({ name: "eth0", why });
    expect(await programs()).toEqual([7]);
  });

  it("stays while the kubelet does not answer, which is a problem, and the time begins again afterwards", async () => {
    leave();
    await release();
    kubelet.error = "14 UNAVAILABLE";
    const why = "the kubelet does not say which devices pods have: 14 UNAVAILABLE";
    expect(await release({ afterMs: 60_000 })).toMatchObject({
      problems: [`what the plugins of upstream left stays on eth0, pool fast: ${why}`],
    });
    kubelet.error = undefined;
    expect((await release()).released).toEqual([]);
    expect((await release()).released).toHaveLength(4);
  });

  it.each([
    {
      what: "an AF_XDP socket uses the interface",
      sockets: 1,
      why: "AF_XDP sockets of the host use the interface (1)",
    },
    {
      what: "the kernel does not know the AF_XDP sockets",
      sockets: { unknown: "no module xsk_diag" },
      why: "the kernel does not say whether AF_XDP sockets of the host use the interface: no module xsk_diag",
    },
  ])("keeps its program if $what, says so, and removes the rest", async ({ sockets, why }) => {
    leave();
    kernel.pluginLeftovers.setSockets("eth0", sockets);
    expect(await releaseTwice()).toEqual({
      released: removed,
      kept: [{ name: "eth0", why }],
      problems: [`XDP program xsk_def_prog stays on eth0: ${why}`],
    });
    expect([await programs(), paths(), await records()]).toEqual([[7], [], [pf]]);
    kernel.pluginLeftovers.setSockets("eth0", 0);
    expect((await release()).kept).toContainEqual({ name: "eth0", why: soon });
    expect((await release({ afterMs: 10_000 })).released).toEqual([detached, forgotten()]);
  });

  it("keeps a dispatcher with another program, and detaches one with the plugin's alone", async () => {
    kernel.attachXdpProgram("eth0", { ...left, name: "xdp_dispatcher" });
    kernel.pluginLeftovers.setComponents(7, ["xsk_def_prog", "xdp_filter"]);
    expect((await releaseTwice()).problems).toEqual([
      "XDP program xsk_def_prog stays on eth0: its dispatcher also runs other programs (xdp_filter)",
    ]);
    expect(await programs()).toEqual([7]);
    kernel.pluginLeftovers.setComponents(7, ["xdp_afxdp_redir"]);
    await releaseTwice();
    expect([await programs(), await records()]).toEqual([[], []]);
  });

  it.each([
    { what: "of another name", change: { name: "xdp_filter" }, given: {} },
    { what: "that was there before", change: {}, given: { programBefore: 7 } },
    { what: "that is newer than the boot of the record", change: {}, given: { bootId: "before" } },
  ])("does not include a program $what, and the record goes", async ({ change, given }) => {
    kernel.attachXdpProgram("eth0", { ...left, ...change });
    kernel.pluginLeftovers.record({ ...record, ...given });
    expect((await releaseTwice()).released).toEqual([forgotten()]);
    expect(await programs()).toEqual([7]);
  });

  it("does not include a program that replaces it meanwhile", async () => {
    leave();
    const fault = { port: "pluginLeftovers", method: "detachProgram" } as const;
    kernel.fault(fault, { code: "EEXIST", words: "Active program does not match expected" });
    expect(await releaseTwice()).toMatchObject({
      problems: ["detach XDP program 7 on eth0: EEXIST (Active program does not match expected)"],
    });
    expect([await programs(), await records()]).toEqual([[7], [pf]]);
  });

  it("stays with the device in the network namespace of a pod, until the pods with AF_XDP devices have ended", async () => {
    leave();
    kernel.moveToPod(pci(pf));
    kubelet.held = ["another"];
    const kept = { name: "eth0", why: "not on the host while pods have AF_XDP devices" };
    expect((await releaseTwice()).kept).toContainEqual(kept);
    kubelet.held = [];
    kernel.returnFromPod(pci(pf));
    expect((await releaseTwice()).released).toContain(detached);
  });

  it("is removed from a device that left its pool, and its record when the pool has another device", async () => {
    leave();
    const wanted = wanting([second], ["fast"]);
    expect((await releaseTwice({ wanted })).released).toEqual([detached]);
    expect([paths(), await records()]).toEqual([[mount, socket], [pf]]);
    kernel.pluginLeftovers.record({ ...record, device: second, names: ["eth1"] });
    expect((await releaseTwice({ wanted })).released).toEqual([forgotten()]);
    expect([paths(), await records()]).toEqual([[mount, socket], [second]]);
    expect((await releaseTwice()).released).toEqual([...removed, forgotten(second)]);
  });

  it("includes a young socket only when it is older, and one failure does not stop the others", async () => {
    leave();
    kernel.pluginLeftovers.addSocket(socket, { isYoung: true });
    kernel.fault({ port: "pluginLeftovers", method: "removeMount" }, { code: "JOB_FAILED", words: "busy" });
    const message = `unmount and remove on ${mount}: JOB_FAILED (busy)`;
    expect(await releaseTwice()).toEqual({
      released: [detached],
      kept: [
        { name: mount, why: message },
        { name: socket, why: "younger than two minutes" },
      ],
      problems: [message],
    });
    expect(await records()).toEqual([pf]);
  });

  it("keeps its programs on request", async () => {
    leave();
    expect((await releaseTwice({ keepsPrograms: true })).released).toEqual([...removed, forgotten()]);
    expect(await programs()).toEqual([7]);
  });

  it.each(
    Array.from({ length: 6 }, (_each, at) => [
      { nth: at + 1, isDone: false },
      { nth: at + 1, isDone: true },
    ]).flat(),
  )("is removed by the next daemon if one is killed at write $nth (done: $isDone)", async ({ nth, isDone }) => {
    leave();
    const { host, death } = killedAtWrite(kernel.host(), nth, isDone);
    await Promise.race([releaseTwice({ host }), death]);
    start();
    if ((await records()).length > 0) await releaseTwice();
    expect([await programs(), paths(), await records()]).toEqual([[], [], []]);
  });
});
