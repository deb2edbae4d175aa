// SPDX-License-Identifier: Apache-2.0
/** The sidecar on real files and a kubelet that answers on a real socket. */
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeState, VfGroup } from "@switchyard/api";
import type { NewCondition } from "@switchyard/kube";
import type { PodDevices, PodName } from "@switchyard/kubelet";
import { startFakeKubelet, type FakeKubelet } from "@switchyard/kubelet/testing";
import { allocationOf } from "@switchyard/policy";
import { createLogger } from "@switchyard/service";
import { mkdtemp, readFile, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { readOfferedVfs } from "./config-file.ts";
import { createPluginReconciler } from "./plugin-reconciler.ts";
import { nodeState, pf } from "./testing/node-state.ts";
import type { ReadUnregistered } from "./registered-resources.ts";
import { createWithholding, kubeletHolders } from "./withheld-vfs.ts";

let directory: string;
let kubelet: FakeKubelet;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "switchyard-withheld-"));
  kubelet = await startFakeKubelet(directory);
});
afterEach(async () => {
  await kubelet[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

const [vf0, vf1, vf2, vf3] = ["0000:01:10.0", "0000:01:10.1", "0000:01:10.2", "0000:01:10.3"];

function stateOf(...vfGroups: readonly VfGroup[]): SriovNetworkNodeState {
  const state = nodeState([pf({ spec: { vfGroups } })], { bootID: "boot-1" });
  return { ...state, metadata: { ...state.metadata, namespace: "sriov" } };
}

const lab = stateOf({ resourceName: "lab", vfRange: "0-3" });
const lab2 = stateOf({ resourceName: "lab2", vfRange: "0-3" });

function pod(name: string, resourceName: string, ...ids: readonly (string | undefined)[]): PodDevices {
  const devices = [{ resourceName, ids: ids.filter((id) => id !== undefined) }];
  return { name, namespace: "default", containers: [{ name: "app", devices }] };
}

const allRegistered: ReadUnregistered = () => Promise.resolve(undefined);

interface ProcessOptions {
  readonly wait?: boolean;
  readonly block?: boolean;
  readonly kubeletDirectory?: string;
  readonly readUnregistered?: ReadUnregistered;
  readonly ownPod?: PodName;
  /** Name of the pod's directory for the configuration. */
  readonly config?: string;
}

/** One process of the sidecar, or of the init container, whose state of the node can be set. */
function process({
  wait = false,
  block = true,
  kubeletDirectory = directory,
  readUnregistered = allRegistered,
  ownPod,
  config = "config",
}: ProcessOptions = {}) {
  const configFile = join(directory, config, "config.json");
  const sidecar = {
    state: lab,
    condition: undefined as Partial<NewCondition> | undefined,
    /** Drivers by the VFs that they publish. */
    published: new Map<string, readonly string[]>(),
    isWritten: false,
    async run() {
      const again = await reconcile("worker-1", new AbortController().signal);
      return again?.afterMs;
    },
    async offered() {
      const vfs = await readOfferedVfs(configFile);
      return Object.fromEntries([...vfs].map(([name, addresses]) => [name, [...addresses]]));
    },
    readFile: () => readFile(configFile, "utf8"),
  };
  const reconcile = createPluginReconciler({
    readUnregistered,
    flags: {
      nodeName: "worker-1",
      configFile,
      wait,
      blockUntilConfigured: block,
      pluginProcess: "no-such-plugin",
      resourcePrefix: "openshift.io",
    },
    host: {
      sriov: { readBinding: () => Promise.resolve({ driver: "igbvf", incarnation: "1" }) },
      boot: { readBootId: () => Promise.resolve("boot-1") },
    },
    withholding: createWithholding({
      resourcePrefix: "openshift.io",
      offered: () => readOfferedVfs(configFile),
      readHolders: kubeletHolders(kubeletDirectory, ownPod),
      published: () => Promise.resolve(sidecar.published),
    }),
    handOver: {
      confirm: (state) => Promise.resolve({ ...allocationOf(state), hasMoved: state.spec?.allocation !== undefined }),
      write() {
        const { status = {} } = sidecar.state;
        sidecar.state = { ...sidecar.state, status: { ...status, offeredBy: "dra" } };
        return Promise.resolve();
      },
    },
    state: () => sidecar.state,
    writer: {
      applyStatus({ status }) {
        sidecar.condition = status.conditions?.[0];
        return Promise.resolve("written" as const);
      },
    },
    log: createLogger({ service: "test", level: "error", stream: new Writable() }).log,
    onWritten() {
      sidecar.isWritten = true;
    },
  });
  return sidecar;
}

describe("a resource that no plugin has registered", () => {
  it("is not configured until the kubelet knows it, which is asked again without an event", async () => {
    let isRegistered = false;
    const asked: (readonly string[])[] = [];
    const readUnregistered: ReadUnregistered = (resources) => {
      asked.push(resources);
      return Promise.resolve({ resources: isRegistered ? [] : resources, isKubeletAbsent: false });
    };
    const first = process({ wait: true, readUnregistered });
    await first.run();
    expect([first.isWritten, first.condition?.reason]).toEqual([true, "NotRegistered"]);
    const sidecar = process({ readUnregistered });
    expect(await sidecar.run()).toBe(3_000);
    expect(sidecar.condition).toMatchObject({ status: "False", reason: "NotRegistered" });
    isRegistered = true;
    expect(await sidecar.run()).not.toBe(3_000);
    expect(sidecar.condition).toMatchObject({ status: "True", reason: "Configured" });
    expect(asked.at(-1)).toEqual(["openshift.io/lab"]);
  });
});

describe("a resource that is renamed while pods have its VFs", () => {
  it("gets the free VFs at once and the others when their pods have ended", async () => {
    const sidecar = process();
    await sidecar.run();
    expect(await sidecar.offered()).toEqual({ lab: [vf0, vf1, vf2, vf3] });
    kubelet.pods = [pod("app1", "openshift.io/lab", vf0, vf2)];
    sidecar.state = lab2;
    expect(await sidecar.run()).toBe(10_000);
    expect(await sidecar.offered()).toEqual({ lab2: [vf1, vf3] });
    expect(sidecar.condition).toMatchObject({
      status: "False",
      reason: "VfsHeld",
      message:
        "lab2: 2 VFs of 0000:01:00.0 are withheld until pods that have them end: default/app1 (openshift.io/lab); " +
        "VFs advertised: lab2: 2",
    });
    kubelet.pods = [];
    await sidecar.run();
    expect(await sidecar.offered()).toEqual({ lab2: [vf0, vf1, vf2, vf3] });
    expect(sidecar.condition?.status).toBe("True");
  });

  it.each([true, false])("is checked before the plugin starts (feature gate: %s)", async (block) => {
    kubelet.pods = [pod("app1", "openshift.io/lab", vf0)];
    const first = process({ wait: true, block });
    first.state = lab2;
    await first.run();
    expect([first.isWritten, await first.offered()]).toEqual([true, { lab2: [vf1, vf2, vf3] }]);
  });

  it("is looked at again after the plugin's restart, before which a pod can still get a VF under the old name", async () => {
    const sidecar = process();
    await sidecar.run();
    await sidecar.run();
    sidecar.state = lab2;
    expect(await sidecar.run()).toBe(5_000);
    kubelet.pods = [pod("late", "openshift.io/lab", vf1)];
    expect(await sidecar.run()).toBe(10_000);
    expect(await sidecar.offered()).toEqual({ lab2: [vf0, vf2, vf3] });
  });
});

describe("a node that moves to ResourceClaims", () => {
  const toClaims = (state: SriovNetworkNodeState): SriovNetworkNodeState => ({
    ...state,
    spec: { ...state.spec, allocation: "dra" },
  });

  it("withdraws free VFs at once and the others when their pods have ended, and passes on the right to offer them", async () => {
    const sidecar = process();
    await sidecar.run();
    kubelet.pods = [pod("app1", "openshift.io/lab", vf0, vf2)];
    sidecar.state = toClaims(lab);
    expect(await sidecar.run()).toBe(2_000);
    expect([await sidecar.offered(), sidecar.state.status?.offeredBy]).toEqual([{ lab: [vf0, vf2] }, undefined]);
    expect(sidecar.condition).toMatchObject({
      status: "True",
      reason: "OfferedToClaims",
      message: "lab: 2 VFs of 0000:01:00.0 are given to pods by ResourceClaims; VFs advertised: lab: 2",
    });
    expect(await sidecar.run()).toBe(1_000);
    expect(sidecar.state.status?.offeredBy).toBe("dra");
    kubelet.pods = undefined;
    await sidecar.run();
    expect(await sidecar.offered()).toEqual({ lab: [vf0, vf2] });
    kubelet.pods = [];
    await sidecar.run();
    expect(await sidecar.offered()).toEqual({ none: ["none"] });
  });

  it("offers VFs again when it is asked to, has the right, and no slice names them", async () => {
    const sidecar = process();
    sidecar.state = toClaims(lab);
    await sidecar.run();
    await sidecar.run();
    const { status = {} } = lab;
    sidecar.published = new Map([[vf1, ["sriovnetwork.k8snetworkplumbingwg.io"]]]);
    sidecar.state = { ...lab, status: { ...status, offeredBy: "dra" } };
    await sidecar.run();
    expect(await sidecar.offered()).toEqual({ none: ["none"] });
    sidecar.state = { ...lab, status: { ...status, offeredBy: "devicePlugin" } };
    await sidecar.run();
    expect(await sidecar.offered()).toEqual({ lab: [vf0, vf2, vf3] });
  });

  it("passes the right on before a plugin has started", async () => {
    const first = process({ wait: true });
    first.state = toClaims(lab);
    await first.run();
    expect([first.isWritten, first.state.status?.offeredBy]).toEqual([false, "dra"]);
  });
});

describe("VFs", () => {
  it("that a pod has under the name of another prefix are withheld", async () => {
    kubelet.pods = [pod("old", "example.com/lab", vf3)];
    const sidecar = process();
    await sidecar.run();
    expect(await sidecar.offered()).toEqual({ lab: [vf0, vf1, vf2] });
  });

  it("that move to another range of a split PF are withheld, and those that stay are not", async () => {
    const sidecar = process();
    await sidecar.run();
    kubelet.pods = [pod("app1", "openshift.io/lab", vf0, vf2)];
    sidecar.state = stateOf({ resourceName: "lab", vfRange: "0-1" }, { resourceName: "dpdk", vfRange: "2-3" });
    await sidecar.run();
    expect(await sidecar.offered()).toEqual({ lab: [vf0, vf1], dpdk: [vf3] });
  });

  it("of pods with the present name stay, without another call of the kubelet", async () => {
    kubelet.pods = [pod("app1", "openshift.io/lab", vf0)];
    const sidecar = process();
    await sidecar.run();
    expect(await sidecar.run()).toBeUndefined();
    kubelet.pods = undefined; // each call would fail now
    expect(await sidecar.run()).toBeUndefined();
    expect(await sidecar.offered()).toEqual({ lab: [vf0, vf1, vf2, vf3] });
    expect(sidecar.condition?.status).toBe("True");
  });
});

describe("VFs that the plugin offers while a pod has them by a second device plugin", () => {
  const holder = { namespace: "default", name: "other", via: "device-plugin", resource: "intel.com/nic" } as const;
  const shown: SriovNetworkNodeState = {
    ...lab,
    status: {
      ...lab.status,
      interfaces: (lab.status?.interfaces ?? []).map((nic) => ({
        ...nic,
        Vfs: (nic.Vfs ?? []).map((vf) =>
          vf.pciAddress === vf2 ? { ...vf, holder: { ...holder, since: "2026-11-28T10:00:00Z" } } : vf,
        ),
      })),
    },
  };

  it.each([true, false])(
    "are withheld once the node state shows it, until the pod ends (kubelet answers: %s)",
    async (ok) => {
      const sidecar = process();
      for (let nth = 1; nth <= 2; nth++) await sidecar.run();
      kubelet.pods = ok ? [pod("other", "intel.com/nic", vf2)] : undefined;
      sidecar.state = shown;
      expect(await sidecar.run()).toBe(10_000);
      expect(await sidecar.offered()).toEqual({ lab: [vf0, vf1, vf3] });
      expect(sidecar.condition?.message).toContain("until pods that have it end: default/other (intel.com/nic)");
      kubelet.pods = [];
      expect(await sidecar.run()).toBe(10_000);
      expect(await sidecar.offered()).toEqual({ lab: [vf0, vf1, vf3] });
      sidecar.state = lab;
      await sidecar.run();
      expect(await sidecar.offered()).toEqual({ lab: [vf0, vf1, vf2, vf3] });
    },
  );

  it("stay withheld after a change of the name if the kubelet has lost its checkpoint", async () => {
    const sidecar = process();
    for (let nth = 1; nth <= 2; nth++) await sidecar.run();
    sidecar.state = { ...lab2, ...(shown.status && { status: shown.status }) };
    await sidecar.run();
    expect(await sidecar.offered()).toEqual({ lab2: [vf0, vf1, vf3] });
  });
});

describe("a kubelet that has just started", () => {
  const ownPod = { namespace: "sriov", name: "plugin" };
  const plugin = { ...ownPod, containers: [] };
  const sockets = (ageMs: number) =>
    utimes(join(directory, "pod-resources/kubelet.sock"), Date.now() / 1_000, (Date.now() - ageMs) / 1_000);

  it("does not make VFs free whose pods it does not list yet", async () => {
    const sidecar = process({ ownPod });
    kubelet.pods = [plugin, pod("app1", "openshift.io/lab", vf0, vf2)];
    for (let nth = 1; nth <= 2; nth++) await sidecar.run();
    sidecar.state = lab2;
    await sidecar.run();
    expect(await sidecar.offered()).toEqual({ lab2: [vf1, vf3] });
    // The API server is away, so the kubelet lists no pods for an hour.
    kubelet.pods = [];
    expect(await sidecar.run()).toBe(2_000);
    expect(await sidecar.offered()).toEqual({ lab2: [vf1, vf3] });
    expect(sidecar.condition?.message).toMatch(/the kubelet does not say which pods have VFs: it has just started/);
    // The own pod can be one of the first that it takes over.
    await sockets(5_000);
    kubelet.pods = [plugin];
    expect(await sidecar.run()).toBe(2_000);
    expect(await sidecar.offered()).toEqual({ lab2: [vf1, vf3] });
    await sockets(15_000);
    await sidecar.run();
    expect(await sidecar.offered()).toEqual({ lab2: [vf0, vf1, vf2, vf3] });
  });
});

describe.each([
  { clock: "was in 1970", at: new Date(90_000) },
  { clock: "was years ahead", at: new Date("2040-01-01T00:00:00Z") },
])("a kubelet that has started while the clock $clock", ({ at }) => {
  it("does not make VFs free whose pods it does not list yet, and its restart later does", async () => {
    const ownPod = { namespace: "sriov", name: "plugin" };
    const plugin = { ...ownPod, containers: [] };
    const path = join(directory, "pod-resources/kubelet.sock");
    const sidecar = process({ ownPod });
    kubelet.pods = [plugin, pod("app1", "openshift.io/lab", vf0, vf2)];
    for (let nth = 1; nth <= 2; nth++) await sidecar.run();
    sidecar.state = lab2;
    await sidecar.run();
    await utimes(path, at, at);
    kubelet.pods = [plugin];
    expect(await sidecar.run()).toBe(2_000);
    expect(await sidecar.offered()).toEqual({ lab2: [vf1, vf3] });
    const right = new Date(Date.now() - 15_000);
    await utimes(path, right, right);
    await sidecar.run();
    expect(await sidecar.offered()).toEqual({ lab2: [vf0, vf1, vf2, vf3] });
  });
});

describe("two pods of the sidecar on a node, one of which was deleted by force", () => {
  it("come to the same configuration in any order, say the same, and offer no VF that a pod has under a new name", async () => {
    const old = process();
    for (let nth = 1; nth <= 2; nth++) await old.run();
    kubelet.pods = [pod("app1", "openshift.io/lab", vf0)];
    const next = process({ config: "next" });
    for (const sidecar of [next, old, next]) await sidecar.run();
    for (const sidecar of [old, next]) sidecar.state = lab2;
    for (const sidecar of [next, old, next, old]) await sidecar.run();
    expect(await next.offered()).toEqual({ lab2: [vf1, vf2, vf3] });
    expect([await old.offered(), old.condition]).toEqual([await next.offered(), next.condition]);
    kubelet.pods = [];
    for (let nth = 1; nth <= 2; nth++) for (const sidecar of [old, next]) await sidecar.run();
    expect(await next.offered()).toEqual({ lab2: [vf0, vf1, vf2, vf3] });
    expect([await old.offered(), old.condition]).toEqual([await next.offered(), next.condition]);
  });
});

describe("while the kubelet does not answer", () => {
  it("VFs that would move are withheld, and the others stay", async () => {
    const sidecar = process();
    for (let nth = 1; nth <= 2; nth++) await sidecar.run();
    kubelet.pods = undefined;
    sidecar.state = stateOf({ resourceName: "lab", vfRange: "0-1" }, { resourceName: "dpdk", vfRange: "2-3" });
    expect(await sidecar.run()).toBe(10_000);
    expect(await sidecar.offered()).toEqual({ lab: [vf0, vf1] });
    expect(sidecar.condition).toMatchObject({ status: "False", reason: "VfsHeld" });
    expect(sidecar.condition?.message).toMatch(
      /^dpdk: 2 VFs of 0000:01:00.0 are withheld because the kubelet does not say which pods have VFs: .*starting/,
    );
    kubelet.pods = [];
    await sidecar.run();
    expect(await sidecar.offered()).toEqual({ lab: [vf0, vf1], dpdk: [vf2, vf3] });
  });

  it("the plugin does not start with VFs of which nothing is known", async () => {
    kubelet.pods = undefined;
    const first = process({ wait: true });
    expect([await first.run(), first.isWritten]).toEqual([10_000, false]);
  });

  it("a pod without the kubelet's directory works as before", async () => {
    const sidecar = process({ kubeletDirectory: join(directory, "not-mounted") });
    expect(await sidecar.run()).toBeUndefined();
    expect(await sidecar.offered()).toEqual({ lab: [vf0, vf1, vf2, vf3] });
  });

  it("are not offered while a driver publishes them in ResourceSlices, also if they were offered before", async () => {
    const sidecar = process();
    await sidecar.run();
    expect(await sidecar.offered()).toEqual({ lab: [vf0, vf1, vf2, vf3] });
    const driver = "sriovnetwork.k8snetworkplumbingwg.io";
    sidecar.published = new Map([vf1, vf2].map((vf) => [vf, [driver]]));
    expect(await sidecar.run()).toBeUndefined();
    expect(await sidecar.offered()).toEqual({ lab: [vf0, vf3] });
    expect(sidecar.condition).toMatchObject({
      status: "False",
      reason: "VfsHeld",
      message: `lab: 2 VFs of 0000:01:00.0 are withheld because ResourceSlices offer them: ${driver}; VFs advertised: lab: 2`,
    });
    sidecar.published = new Map();
    await sidecar.run();
    expect(await sidecar.offered()).toEqual({ lab: [vf0, vf1, vf2, vf3] });
  });
});
