// SPDX-License-Identifier: Apache-2.0
/** The sidecar with a process that plays the plugin, real sockets, and a kubelet that is not real. */
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import {
  upstreamDeviceDirectory,
  type AfxdpInterfaceStatus,
  type AfxdpNetworkNodeState,
  type AfxdpPoolSpec,
  type AfxdpPoolStatus,
} from "@switchyard/api";
import { recordUpstreamDevices } from "@switchyard/host/upstream-plugin";
import { createPodResources, identityOf } from "@switchyard/kubelet";
import { startFakeKubelet } from "@switchyard/kubelet/testing";
import { createLogger } from "@switchyard/service";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { endPlugin } from "../end-plugin.ts";
import { createAfxdpPluginsReconciler } from "./afxdp-plugins-reconciler.ts";
import { readOffered } from "./read-kernel-settings.ts";
import { startPlugin, type PluginUnderTest } from "./testing/plugin-under-test.ts";

let directory: string;
let configFile: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "switchyard-afxdp-"));
  configFile = join(directory, "config/config.json");
});
afterEach(() => rm(directory, { recursive: true }));

const port = (slot: number, name?: string): AfxdpInterfaceStatus => {
  return { pciAddress: `0000:8${slot}:00.0`, driver: "ice", owned: true, ...(name !== undefined && { name }) };
};

interface Given {
  readonly pools?: readonly AfxdpPoolSpec[];
  readonly interfaces?: readonly AfxdpInterfaceStatus[];
  readonly syncStatus?: string;
}

/** All devices are in the first pool. */
function stateOf(given: Given = {}): AfxdpNetworkNodeState {
  const {
    pools = [{ name: "intel", mode: "primary" }],
    interfaces = [port(1, "ens1")],
    syncStatus = "Succeeded",
  } = given;
  const [{ name: poolName } = { name: "" }] = pools;
  return {
    apiVersion: "afxdpnetwork.hns.dev/v1alpha1",
    kind: "AfxdpNetworkNodeState",
    metadata: { name: "worker-1", namespace: "sriov", uid: "u1", generation: 1 },
    spec: {
      pools,
      interfaces: interfaces.map(({ pciAddress = "" }) => ({ pciAddress, mode: "primary" as const, poolName })),
    },
    status: { interfaces, syncStatus, observedGeneration: 1 },
  };
}

/** One process, of which the clock and the state of the node can be set. */
function createSidecar(plugin: Pick<PluginUnderTest, "name">, wait = false) {
  const socket = join(directory, "kubelet/pod-resources/kubelet.sock");
  const sidecar = {
    state: stateOf() as AfxdpNetworkNodeState | undefined,
    nowMs: 0,
    rows: undefined as readonly AfxdpPoolStatus[] | undefined,
    isWritten: false,
    /** The pools of each look for what the plugin has left. */
    tidied: [] as (readonly string[])[],
    kernelRelease: "6.8.0-45-generic",
    /** Whether the disk with the records is full. */
    isFull: false,
    run: (): Promise<unknown> => reconcile("worker-1", new AbortController().signal),
    /** Reconciles until the status is as expected. The clock does not move. */
    async becomes(rows: readonly AfxdpPoolStatus[]): Promise<void> {
      const deadline = Date.now() + 20_000;
      for (;;) {
        await sidecar.run();
        if (Date.now() > deadline) expect(sidecar.rows).toEqual(rows);
        if (JSON.stringify(sidecar.rows) === JSON.stringify(rows)) return;
        await delay(20);
      }
    },
  };
  const reconcile = createAfxdpPluginsReconciler({
    flags: { nodeName: "worker-1", configFile, wait, verbosity: 1 },
    node: {
      kernelSettings: () => Promise.resolve({ kernelRelease: sidecar.kernelRelease, unprivilegedBpfDisabled: "2" }),
      offered: (signal) => readOffered(createPodResources({ path: socket }), signal),
      kubeletStart: () => identityOf(socket),
      endPlugin: () => endPlugin(plugin.name),
      async recordDevices(given) {
        if (sidecar.isFull) throw new Error("ENOSPC");
        await recordUpstreamDevices(directory, given, "boot-1");
      },
      tidyUp(pools) {
        sidecar.tidied.push([...pools]);
        return Promise.resolve();
      },
    },
    state: () => sidecar.state,
    writer: {
      applyStatus({ status }) {
        sidecar.rows = status.pools;
        return Promise.resolve("written");
      },
    },
    log: createLogger({ service: "test", level: "error" }).log,
    onWritten: () => {
      sidecar.isWritten = true;
    },
    nowMs: () => sidecar.nowMs,
  });
  return sidecar;
}

const recordFile = () => join(directory, upstreamDeviceDirectory, "0000:81:00.0");
const readRecord = async () => JSON.parse(await readFile(recordFile(), "utf8")) as unknown;

const row = (name: string, count: number, error?: string): AfxdpPoolStatus => {
  return { name, announced: count, allocatable: count, ...(error !== undefined && { error }) };
};
const startKubelet = () => startFakeKubelet(join(directory, "kubelet"));

/** The init container writes the file, and the plugin starts with the interfaces on the host. */
async function startNode(interfaces: readonly string[], given: Given = {}): Promise<PluginUnderTest> {
  const first = createSidecar({ name: "none" }, true);
  first.state = stateOf(given);
  await first.run();
  expect(first.isWritten).toBe(true);
  const plugin = await startPlugin({ directory, configFile });
  for (const name of interfaces) await plugin.setInterface(name, true);
  return plugin;
}

describe("the init container", () => {
  it("waits until the daemon has configured the node, and then writes the file", async () => {
    const init = createSidecar({ name: "none" }, true);
    for (const state of [undefined, { ...stateOf(), status: {} }, stateOf({ syncStatus: "InProgress" })]) {
      init.state = state;
      await init.run();
      expect(init.isWritten).toBe(false);
    }
    const stale = stateOf();
    init.state = { ...stale, metadata: { ...stale.metadata, generation: 2 } };
    await init.run();
    expect(init.isWritten).toBe(false);
    init.state = stateOf({ syncStatus: "Failed" });
    await init.run();
    expect(init.isWritten).toBe(true);
    expect(JSON.parse(await readFile(configFile, "utf8"))).toEqual({
      logLevel: "info",
      pools: [{ name: "intel", mode: "primary", devices: [{ name: "ens1" }] }],
    });
  });
});

describe("the record of a device", () => {
  it("is on the node before the device is in the configuration, with the XDP program that the device has", async () => {
    const init = createSidecar({ name: "none" }, true);
    init.state = stateOf({ interfaces: [{ ...port(1, "ens1"), xdp: { program: { id: 7 } } }] });
    init.isFull = true;
    await expect(init.run()).rejects.toThrow("ENOSPC");
    await expect(readFile(configFile)).rejects.toMatchObject({ code: "ENOENT" });
    init.isFull = false;
    await init.run();
    expect(await readRecord()).toEqual({
      device: "0000:81:00.0",
      bootId: "boot-1",
      programBefore: 7,
      names: ["ens1"],
      pools: ["intel"],
    });
  });

  it("is written by the sidecar for a new pool, keeps the first program, and is written again if it is gone", async () => {
    await using _kubelet = await startKubelet();
    await using plugin = await startNode(["ens1"]);
    const sidecar = createSidecar(plugin);
    sidecar.state = stateOf({
      pools: [{ name: "other", mode: "primary" }],
      interfaces: [{ ...port(1, "ens1"), xdp: { program: { id: 9 } } }],
    });
    await sidecar.run();
    const record = { device: "0000:81:00.0", bootId: "boot-1", names: ["ens1"] };
    expect(await readRecord()).toEqual({ ...record, pools: ["other", "intel"] });
    await rm(recordFile());
    await sidecar.run();
    expect(await readRecord()).toEqual({ ...record, programBefore: 9, pools: ["other"] });
  });

  it("is missing for a device that is left out", async () => {
    const init = createSidecar({ name: "none" }, true);
    init.state = stateOf({ interfaces: [port(1, "eth1")] });
    await init.run();
    expect(init.isWritten).toBe(true);
    await expect(readRecord()).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("the sidecar", () => {
  it("reports what the kubelet has, and leaves a plugin alone that announces everything", async () => {
    await using _kubelet = await startKubelet();
    await using plugin = await startNode(["ens1"]);
    const sidecar = createSidecar(plugin);
    await sidecar.becomes([row("intel", 1)]);
    for (let hour = 1; hour < 4; hour++) {
      sidecar.nowMs = hour * 3_600_000;
      await sidecar.run();
    }
    expect(plugin.starts()).toBe(1);
    expect(sidecar.rows).toEqual([row("intel", 1)]);
    expect(sidecar.tidied).toEqual(Array(4).fill(["intel"])); // not more often than it has to
  });

  it("restarts the plugin for another configuration, and keeps the device that a pod has", async () => {
    await using _kubelet = await startKubelet();
    await using plugin = await startNode(["ens1", "ens2"]);
    const sidecar = createSidecar(plugin);
    await sidecar.becomes([row("intel", 1)]);
    // The device of a pod has no name in the status. That alone changes nothing.
    await plugin.setInterface("ens1", false);
    sidecar.state = stateOf({ interfaces: [port(1)] });
    await sidecar.run();
    expect(plugin.starts()).toBe(1);
    sidecar.state = stateOf({ interfaces: [port(1), port(2, "ens2")] });
    await sidecar.becomes([row("intel", 1)]); // also before the restart
    await until(() => plugin.starts() === 2);
    expect(await readFile(configFile, "utf8")).toContain("ens1");
    // The pod has ended. The plugin announced the devices on the host when it started, so it restarts once more.
    await plugin.setInterface("ens1", true);
    sidecar.state = stateOf({ interfaces: [port(1, "ens1"), port(2, "ens2")] });
    await sidecar.run();
    expect(plugin.starts()).toBe(2);
    sidecar.nowMs += 20_000;
    await sidecar.becomes([row("intel", 2)]);
    expect(plugin.starts()).toBe(3);
  });

  it("withdraws a pool, and says why a pool is not offered", async () => {
    await using _kubelet = await startKubelet();
    await using plugin = await startNode(["ens1"]);
    const sidecar = createSidecar(plugin);
    await sidecar.becomes([row("intel", 1)]);
    sidecar.state = stateOf({ pools: [{ name: "intel", mode: "primary", bpfMapPinning: true, uid: 1500 }] });
    const why =
      "bpfMapPinning must be false with uid 1500 and provider upstream, whose device plugin then refuses every request " +
      "for a device: use udsServer, uid 0, or provider switchyard";
    await sidecar.becomes([row("intel", 0, why)]);
    await until(() => plugin.lines().at(-1) === "Found 0 poolConfigs");
    sidecar.state = stateOf({ pools: [], interfaces: [] });
    await sidecar.becomes([]);
    expect(plugin.starts()).toBe(2); // its configuration is still without pools
  });

  it("restarts a plugin that started before the kubelet and announces nothing", async () => {
    await using plugin = await startNode(["ens1"]);
    const sidecar = createSidecar(plugin);
    await until(() => plugin.lines().some((line) => line.startsWith("Error initializing pool intel")));
    await using _kubelet = await startKubelet();
    await sidecar.run();
    expect(sidecar.rows).toEqual([row("intel", 0)]);
    sidecar.nowMs = 19_000;
    await sidecar.run();
    expect(plugin.starts()).toBe(1);
    sidecar.nowMs = 20_000;
    await sidecar.becomes([row("intel", 1)]);
    expect(plugin.starts()).toBe(2);
  });

  it("restarts the plugin after a restart of the kubelet", async () => {
    const kubelet = await startKubelet();
    await using plugin = await startNode(["ens1"]);
    const sidecar = createSidecar(plugin);
    await sidecar.becomes([row("intel", 1)]);
    await kubelet[Symbol.asyncDispose]();
    await sidecar.run();
    expect(sidecar.rows).toEqual([row("intel", 1)]); // not known for a moment
    await using _again = await startKubelet();
    await sidecar.run();
    sidecar.nowMs = 20_000;
    await sidecar.becomes([row("intel", 1)]);
    expect(plugin.starts()).toBe(2);
  });

  it("says so if restarts do not help, and stops restarting", async () => {
    await using _kubelet = await startKubelet();
    await using plugin = await startNode([]); // the plugin does not find the interface
    const sidecar = createSidecar(plugin);
    await sidecar.run();
    for (let restart = 1; restart <= 3; restart++) {
      const starts = restart + 1;
      await until(() => plugin.starts() === restart);
      sidecar.nowMs += 600_000;
      await sidecar.run();
      await until(() => plugin.starts() === starts);
    }
    const words =
      "the device plugin does not announce ens1 to the kubelet: restarts did not help; see the log of its container";
    sidecar.nowMs += 600_000;
    await sidecar.becomes([row("intel", 0, words)]);
    sidecar.nowMs += 6_000_000;
    await sidecar.run();
    expect(plugin.starts()).toBe(4);
  });

  it("says so if the plugin does not run, or the kubelet does not answer", async () => {
    const kubelet = await startKubelet();
    const sidecar = createSidecar({ name: "no-such-plugin" });
    await sidecar.run();
    sidecar.nowMs = 20_000;
    await sidecar.becomes([
      row(
        "intel",
        0,
        "the device plugin does not announce ens1 to the kubelet: it does not run; see the log of its container",
      ),
    ]);
    await kubelet[Symbol.asyncDispose]();
    await sidecar.run();
    sidecar.nowMs = 40_000;
    await sidecar.run();
    expect(sidecar.rows).toEqual([
      {
        name: "intel",
        error: expect.stringContaining("the kubelet does not say what it offers: 14 UNAVAILABLE") as unknown,
      },
    ]);
  });

  it("offers nothing on a kernel on which the plugin ends, and says why", async () => {
    await using _kubelet = await startKubelet();
    await using plugin = await startPlugin({ directory, configFile, kernelRelease: "6.12.117+deb12-amd64" });
    const sidecar = createSidecar(plugin);
    sidecar.kernelRelease = "6.12.117+deb12-amd64";
    await sidecar.run();
    expect(sidecar.rows).toEqual([row("intel", 0, expect.stringContaining("cannot read the kernel release") as never)]);
    await until(() => plugin.lines().some((line) => line.includes("error converting actual kernel version")));
  });

  it("keeps the names of devices over a restart of itself", async () => {
    await using _kubelet = await startKubelet();
    await using plugin = await startNode(["ens1"]);
    await createSidecar(plugin).becomes([row("intel", 1)]);
    const next = createSidecar(plugin);
    next.state = stateOf({ interfaces: [port(1)] });
    await next.run();
    expect(await readFile(configFile, "utf8")).toContain("ens1");
    expect(plugin.starts()).toBe(1);
  });
});

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error("the condition is not fulfilled");
    await delay(20);
  }
}
