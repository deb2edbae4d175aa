// SPDX-License-Identifier: Apache-2.0
/**
 * The pool server with loader bpfman on a real kernel. The test attaches the program as bpfman does, but without a dispatcher, which
 * not all kernels permit; e2e/afxdp/bpfman.test.ts has the real bpfman with its dispatcher.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import type { AfxdpLoadedProgram, AfxdpLoader } from "@switchyard/api";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFakeKubelet, type FakeKubelet } from "@switchyard/kubelet/testing";
import {
  attachXdp,
  createXskMap,
  NetlinkSocket,
  openPinnedXskMap,
  openXdpProgram,
  protocols,
  readXdp,
} from "@switchyard/netlink";
import {
  createNetworkNamespace,
  loadForeignXdpProgram,
  missingForNamespaces,
  type NetworkNamespace,
} from "@switchyard/netlink/testing";
import { Registry } from "@switchyard/service";
import { createPluginMetrics } from "../plugin-metrics.ts";
import type { NodePool } from "../pools/node-pools.ts";
import { createPoolServer, type PoolServer } from "../serve-pools.ts";
import { silentLogger } from "@switchyard/service/testing";

const missing = missingForNamespaces();
const signal = new AbortController().signal;
const resource = "afxdp/intel";
const row: AfxdpLoadedProgram = { device: "v0", interfaceName: "v0", objectName: "afxdp-worker-1-v0" };
const pool: NodePool = {
  name: "intel",
  hasSocket: true,
  hasPinnedMap: true,
  idleTimeoutMs: 0,
  uid: 1500,
  requiresUnprivilegedBpf: false,
  devices: [{ id: "v0", name: "v0", key: "v0", queues: 2 }],
};

(missing === undefined ? describe : describe.skip)("the pool server with loader bpfman", () => {
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
    await namespace.run(
      "sh",
      "-c",
      "rm -rf /mnt/*; ip link del v0 2>&-; ip link add v0 type veth peer name p0; ip link set p0 up",
    );
    directory = mkdtempSync(join(tmpdir(), "afxdp-"));
    kubelet = await startFakeKubelet(directory);
    kubelet.pods = [];
    server = await start("bpfman");
  });
  afterEach(async () => {
    await server[Symbol.asyncDispose]();
    await kubelet[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true });
  });

  function start(loader: AfxdpLoader): Promise<PoolServer> {
    return createPoolServer({
      paths: {
        kubelet: directory,
        sockets: join(directory, "sockets"),
        maps: `${namespace.root}/mnt/own`,
        record: join(directory, "pools.json"),
        unprivilegedBpf: "/none",
      },
      loader,
      settlingMs: 0,
      netns: namespace.path,
      log: silentLogger,
      metrics: createPluginMetrics(new Registry()),
    });
  }

  /** Attaches a program to v0, and returns its ID. */
  async function attach(queues: number | "none" = 8): Promise<number> {
    using map = queues === "none" ? undefined : createXskMap({ queues });
    using program = loadForeignXdpProgram("xsk_redirect", map);
    await attachXdp(links, "v0", { program, mode: "native" });
    const [attached] = await readXdp(links, "v0");
    if (attached === undefined) throw new Error("no program is attached to v0");
    return attached.programId;
  }

  async function serve(programs: readonly AfxdpLoadedProgram[], pools: readonly NodePool[] = [pool]) {
    await server.setPools(pools);
    server.setPrograms(programs);
    const { pools: served, bpfman } = await server.update(signal);
    return { problem: served[0]?.problems[0], healthy: served[0]?.healthy, bpfman };
  }

  const podWithDevice = {
    name: "app",
    namespace: "default",
    containers: [{ name: "app", devices: [{ resourceName: resource, ids: ["v0"] }] }],
  };

  it("offers a device as soon as its program is loaded and attached, with the map of bpfman and the rights of the pod", async () => {
    expect(await serve([])).toEqual({
      problem: "device v0: bpfman has not loaded its program",
      healthy: 0,
      bpfman: { readyDevices: ["v0"], releasedPrograms: [] },
    });
    expect(await serve([{ ...row, error: "refused" }])).toMatchObject({
      problem: "device v0: bpfman has not loaded its program: refused",
    });
    const programID = await attach();
    expect(await serve([{ ...row, programID }])).toMatchObject({ problem: undefined, healthy: 1 });
    await kubelet.until(resource, (devices) => devices?.[0]?.isHealthy === true);
    const { mounts } = await kubelet.allocate(resource, ["v0"]);
    expect(mounts.map(({ containerPath }) => containerPath)).toEqual(["/tmp/afxdp_dp/v0", "/tmp/afxdp_dp/v0/xsks_map"]);
    const path = `${namespace.root}/mnt/own/v0/xsks_map`;
    using own = openPinnedXskMap(path);
    using program = openXdpProgram(programID);
    expect([[own.id], statSync(path).uid]).toEqual([program.mapIds, 1500]);
    // The device leaves the pool: bpfman's program stays.
    await serve([], []);
    expect(await readXdp(links, "v0")).toMatchObject([{ programId: programID }]);
    expect(() => statSync(path)).toThrow("ENOENT");
  });

  it.each([
    {
      does: "of another program",
      change: (id: number) => ({ programID: id + 1000 }),
      problem: "is not attached to it",
    },
    {
      does: "that is no number",
      change: () => ({ programID: "1/../2" as never }),
      problem: "has not loaded its program",
    },
    {
      does: "on another interface",
      change: (id: number) => ({ programID: id, interfaceName: "v9" }),
      problem: "to v9",
    },
    {
      does: "that is being removed",
      change: (id: number) => ({ programID: id, release: true }),
      problem: "is being removed",
    },
  ])("does not offer a device with a program $does", async ({ change, problem }) => {
    const programID = await attach();
    const served = await serve([{ ...row, ...change(programID) }]);
    expect(served).toMatchObject({ healthy: 0, problem: expect.stringContaining(problem) });
    await kubelet.until(resource, (devices) => devices?.length === 1);
    await expect(kubelet.allocate(resource, ["v0"])).rejects.toMatchObject({
      details: expect.stringContaining(problem),
    });
  });

  it("checks the map: that the program has one, and that it is large enough", async () => {
    expect(await serve([{ ...row, programID: await attach(1) }])).toMatchObject({
      problem: expect.stringContaining("has room for 1 queues, but the device has 2"),
    });
    await namespace.run("ip", "link", "set", "v0", "xdp", "off");
    const withoutMap = { ...row, programID: await attach("none") };
    expect(await serve([withoutMap])).toMatchObject({ problem: expect.stringContaining("has no XSK map") });
  });

  it("confirms the removal of a program only when no pod has the device, and the kubelet says so", async () => {
    const programID = await attach();
    await serve([{ ...row, programID }]);
    await kubelet.until(resource, (devices) => devices?.[0]?.isHealthy === true);
    await kubelet.allocate(resource, ["v0"]);
    const releasing = [{ ...row, programID, release: true }];
    const confirmed = async () => (await serve(releasing)).bpfman?.releasedPrograms;
    kubelet.pods = [podWithDevice];
    expect(await confirmed()).toEqual([]);
    expect((await serve(releasing, [])).bpfman?.releasedPrograms).toEqual([]);
    kubelet.pods = undefined;
    expect(await confirmed()).toEqual([]);
    kubelet.pods = [];
    expect(await confirmed()).toEqual([programID]);
  });

  it("releases our own program for bpfman when no pod has the device, and the plugin with loader builtin waits for bpfman", async () => {
    await server[Symbol.asyncDispose]();
    server = await start("builtin");
    await serve([]);
    await kubelet.until(resource, (devices) => devices?.[0]?.isHealthy === true);
    await kubelet.allocate(resource, ["v0"]);
    kubelet.pods = [podWithDevice];
    await server[Symbol.asyncDispose]();
    server = await start("bpfman");
    expect((await serve([])).bpfman?.readyDevices).toEqual([]);
    expect(await readXdp(links, "v0")).toHaveLength(1);
    kubelet.pods = [];
    expect((await serve([])).bpfman?.readyDevices).toEqual(["v0"]);
    expect(await readXdp(links, "v0")).toEqual([]);

    const programID = await attach();
    await server[Symbol.asyncDispose]();
    server = await start("builtin");
    expect(await serve([{ ...row, programID, release: true }])).toMatchObject({
      healthy: 0,
      problem: expect.stringContaining("that Switchyard did not attach"),
      bpfman: { readyDevices: [], releasedPrograms: [programID] },
    });
    await namespace.run("ip", "link", "set", "v0", "xdp", "off");
    expect(await serve([])).toEqual({ problem: undefined, healthy: 1, bpfman: undefined });
  });
});
