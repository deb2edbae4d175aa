// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { sriovNetworkPoolConfigs, type ObjectMeta, type SriovNetworkPoolConfig } from "@switchyard/api";
import { KubeError, ObjectStore, type KubeObject } from "@switchyard/kube";
import { createKeepingWriter } from "../../testing/cluster.ts";
import { changesOffload, createHardwareOffloadReconciler } from "./hardware-offload-reconciler.ts";
import { offloadMachineConfig } from "./hardware-offload.ts";
import type { ResetHold } from "../../node-states/reset-hold.ts";
import type { MachineConfigs } from "./machine-configs.ts";

const namespace = "sriov-network-operator";

/** A Machine Config Operator that applies all MachineConfigs, with one pool "offload" of three machines. */
function setUp({ isOpenshift = true } = {}) {
  let version = 0;
  const present = new Map<string, KubeObject>();
  const applied: string[] = [];
  const pools = new ObjectStore({
    ...{ type: sriovNetworkPoolConfigs, namespace },
    project: (pool: SriovNetworkPoolConfig) => pool,
  });
  pools.beginList();
  pools.endList("0");
  const { writer, statuses } = createKeepingWriter<SriovNetworkPoolConfig>();
  const freed: string[] = [];
  let updated = 0;
  let isManaged = true;
  let remainingMs = 0;
  let hold: ResetHold | undefined;
  let refusal: KubeError | undefined;
  const machineConfigs: MachineConfigs = {
    apply(config) {
      if (refusal !== undefined) return Promise.reject(refusal);
      applied.push(config.metadata.name);
      present.set(config.metadata.name, config);
      return Promise.resolve();
    },
    read: (name) => Promise.resolve(present.get(name)),
    listLabelled() {
      const labelled = [...present.values()].filter(({ metadata }) => {
        return metadata.labels?.["app.kubernetes.io/component"] === "hardware-offload";
      });
      return refusal === undefined
        ? Promise.resolve(labelled.map(({ metadata }) => metadata.name))
        : Promise.reject(refusal);
    },
    listPools: () =>
      refusal === undefined ? Promise.resolve(["master", "offload", "other"]) : Promise.reject(refusal),
    delete({ metadata }) {
      present.delete(metadata.name);
      return Promise.resolve();
    },
    readPool(name) {
      if (name !== "offload") return Promise.reject(new KubeError(name, "NotFound", { status: 404 }));
      const source = [...present.keys()].map((one) => ({ name: one }));
      const status = {
        configuration: { name: updated === 3 ? "b" : "a" },
        machineCount: 3,
        updatedMachineCount: updated,
      };
      return Promise.resolve({ spec: { configuration: { name: "b", source } }, status });
    },
  };
  const reconcile = createHardwareOffloadReconciler({
    ...{ pools, writer, machineConfigs: isOpenshift ? machineConfigs : undefined },
    removeFinalizer({ name }) {
      freed.push(name);
      return Promise.resolve();
    },
    isManaged: () => isManaged,
    deletions: { remainingMs: () => remainingMs },
    findPoolHold: () => Promise.resolve(hold),
    now: () => new Date("2026-11-21T00:00:00Z"),
  });
  return {
    ...{ present, applied, freed },
    put(name: string, machineConfigPool: string, metadata: Partial<ObjectMeta> = {}): void {
      const pool: SriovNetworkPoolConfig = {
        ...{ apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetworkPoolConfig" },
        metadata: { ...metadata, name, namespace, generation: 1, resourceVersion: `${++version}` },
        spec: { ovsHardwareOffloadConfig: { name: machineConfigPool } },
      };
      pools.upsert(pool);
    },
    remove: (name: string) => {
      pools.remove({ name, namespace });
    },
    /** Makes the API server refuse requests for these kinds. */
    refuse(error: KubeError): void {
      refusal = error;
    },
    /** Deletes the SriovOperatorConfig. */
    abandon(): void {
      isManaged = false;
    },
    /** Why pools may be lost against the wish of their users. */
    hold(found: ResetHold | undefined): void {
      hold = found;
    },
    /** The time until the deletion of a pool counts. */
    settleIn(ms: number): void {
      remainingMs = ms;
    },
    update(machines: number): void {
      updated = machines;
    },
    run: () => reconcile("all", AbortSignal.timeout(10_000)),
    told: (name: string) => {
      const conditions = statuses.get(name)?.conditions ?? [];
      const holding = conditions.find(({ status }) => status === "True");
      return `${holding?.type ?? ""}: ${holding?.message ?? ""}`;
    },
  };
}

describe("changesOffload", () => {
  const pool = (more: Partial<SriovNetworkPoolConfig>, metadata: Partial<ObjectMeta> = {}): SriovNetworkPoolConfig => ({
    ...{ apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetworkPoolConfig", ...more },
    metadata: { name: "a", namespace, generation: 1, ...metadata },
  });
  const before = pool({ spec: { maxUnavailable: 1 } });

  it.each([
    {
      what: "its status",
      after: pool({ spec: { maxUnavailable: 1 }, status: { matchedNodeCount: 1 } }),
      concerns: false,
    },
    { what: "its spec", after: pool({ spec: { maxUnavailable: 2 } }), concerns: true },
    { what: "its finalizers", after: pool({ spec: { maxUnavailable: 1 } }, { finalizers: ["x"] }), concerns: true },
    {
      what: "its deletion",
      after: pool({ spec: { maxUnavailable: 1 } }, { deletionTimestamp: "2026-11-21T00:00:00Z" }),
      concerns: true,
    },
    { what: "its removal", after: undefined, concerns: true },
  ])("is $concerns for $what", ({ after, concerns }) => {
    expect(changesOffload({ key: "a", before, after })).toBe(concerns);
  });
});

/** A MachineConfig that a release of upstream's operator wrote. */
function byUpstream(pool: string, command: string, manager = "sriov-network-operator"): KubeObject {
  const dropins = [{ name: "10-hw-offload.conf", contents: `[Service]\nExecStartPre=${command}\n` }];
  const spec = {
    config: { ignition: { version: "3.2.0" }, systemd: { units: [{ name: "ovs-vswitchd.service", dropins }] } },
  };
  return {
    ...{ apiVersion: "machineconfiguration.openshift.io/v1", kind: "MachineConfig", spec },
    metadata: {
      name: `00-${pool}-ovs-hw-offload`,
      labels: { "machineconfiguration.openshift.io/role": pool },
      managedFields: [{ manager, operation: "Update" }],
    },
  };
}

const present = "/bin/ovs-vsctl --no-wait set Open_vSwitch . other_config:hw-offload=true";

describe("a MachineConfig of upstream", () => {
  it.each([
    { of: "releases since 1.2", command: present },
    { of: "earlier releases", command: "/bin/ovs-vsctl set Open_vSwitch . other_config:hw-offload=true" },
    {
      of: "releases with more settings",
      command: `/bin/bash -c '/bin/ovs-vsctl --no-wait set Open_vSwitch . other_config:hw-offload="true" other_config:a="b" '`,
    },
  ])("is not changed, because a changed text reboots the pool: $of", async ({ command }) => {
    const { put, run, present, applied } = setUp();
    const left = byUpstream("offload", command);
    present.set(left.metadata.name, left);
    put("a", "offload");
    await run();
    expect([applied, present.get(left.metadata.name)]).toEqual([[], left]);
  });

  it("has the same text as the operator's", () => {
    expect(byUpstream("offload", present)).toMatchObject({ spec: offloadMachineConfig("offload").spec });
  });

  it("is reported if it can keep ovs-vswitchd from starting", async () => {
    const { put, run, update, present, told } = setUp();
    const left = byUpstream("offload", "/bin/ovs-vsctl set Open_vSwitch . other_config:hw-offload=true");
    present.set(left.metadata.name, left);
    put("a", "offload");
    update(3);
    await run();
    expect(told("a")).toContain(
      "Ready: 3 of 3 machines updated; the drop-in of 00-offload-ovs-hw-offload runs ovs-vsctl without --no-wait",
    );
  });

  it.each([
    {
      what: "disables offload",
      command: "/bin/ovs-vsctl --no-wait set Open_vSwitch . other_config:hw-offload=false",
    },
    { what: "is for another role", command: present, role: "worker" },
  ])("is corrected if it $what", async ({ command, role }) => {
    const { put, run, present, applied } = setUp();
    const left = byUpstream("offload", command);
    const labels = { "machineconfiguration.openshift.io/role": role ?? "offload" };
    present.set(left.metadata.name, { ...left, metadata: { ...left.metadata, labels } });
    put("a", "offload");
    await run();
    expect(applied).toEqual(["00-offload-ovs-hw-offload"]);
  });

  it("is deleted with its pool; a MachineConfig of another client stays", async () => {
    const { put, run, remove, present: configs } = setUp();
    for (const left of [byUpstream("offload", present), byUpstream("other", present, "kubectl")]) {
      configs.set(left.metadata.name, left);
    }
    put("a", "offload");
    await run();
    remove("a");
    await run();
    expect([...configs.keys()]).toEqual(["00-other-ovs-hw-offload"]);
  });
});

describe("a pool with hardware offload", () => {
  it("gets a MachineConfig, and is ready once all machines have it", async () => {
    const { put, run, update, present, told } = setUp();
    put("a", "offload");
    expect(await run()).toEqual({ afterMs: 15_000 });
    expect([...present.keys()]).toEqual(["00-offload-ovs-hw-offload"]);
    expect(JSON.stringify([...present.values()])).toContain("other_config:hw-offload=true");
    expect(told("a")).toBe("Progressing: 0 of 3 machines updated");
    update(3);
    expect(await run()).toEqual({ afterMs: 300_000 });
    expect(told("a")).toBe("Ready: 3 of 3 machines updated");
  });

  it("loses its MachineConfig when it is deleted, also if the operator did not run", async () => {
    const { put, run, remove, present } = setUp();
    present.set("00-old-ovs-hw-offload", offloadMachineConfig("old"));
    put("a", "offload");
    await run();
    expect([...present.keys()]).toEqual(["00-offload-ovs-hw-offload"]);
    remove("a");
    expect(await run()).toBeUndefined();
    expect(present.size).toBe(0);
  });

  it("is left unchanged without a SriovOperatorConfig", async () => {
    const { put, run, remove, abandon, present } = setUp();
    put("a", "offload");
    await run();
    abandon();
    remove("a");
    expect(await run()).toBeUndefined();
    expect(present.size).toBe(1);
  });

  it("loses upstream's finalizer, also while it is being deleted", async () => {
    const { put, run, freed, present } = setUp();
    put("a", "offload", { deletionTimestamp: "2026-11-21T00:00:00Z" });
    await run();
    expect([freed, present.size]).toEqual([["a"], 0]);
  });

  it("is retried if the API server refuses a request, and no pool reports it", async () => {
    const { put, run, refuse, told } = setUp();
    put("a", "offload");
    refuse(new KubeError("apply", "Forbidden", { status: 403 }));
    await expect(run()).rejects.toMatchObject({ code: "Forbidden" });
    expect(told("a")).toBe(": ");
  });

  it("leaves no leftovers to search if the cluster has no MachineConfigs", async () => {
    const { run, refuse } = setUp();
    refuse(new KubeError("list", "NotFound", { status: 404 }));
    expect(await run()).toBeUndefined();
  });

  it.each([
    {
      what: "the control plane's pool",
      name: "master",
      isOpenshift: true,
      words: "MachineConfigPool master of the control plane is never changed",
    },
    {
      what: "a pool that does not exist",
      name: "typo",
      isOpenshift: true,
      words: "MachineConfigPool typo does not exist",
    },
    {
      what: "a cluster that is not OpenShift",
      name: "offload",
      isOpenshift: false,
      words: "supported on OpenShift only",
    },
  ])("reports why it is invalid: $what", async ({ name, isOpenshift, words }) => {
    const { put, run, present, told } = setUp({ isOpenshift });
    put("a", name);
    await run();
    expect(told("a")).toContain(`Degraded: spec.ovsHardwareOffloadConfig.name: ${words}`);
    expect(present.size).toBe(0);
  });
});

it("keeps the MachineConfig while the deletion of the pool may be part of its replacement, or of the loss of its kind", async () => {
  const { present, applied, put, remove, run, settleIn, hold } = setUp();
  put("sriov", "offload");
  await run();
  expect([...present.keys()]).toEqual(["00-offload-ovs-hw-offload"]);
  put("sriov", "offload", { deletionTimestamp: "2026-11-21T00:00:00Z" });
  await run();
  remove("sriov");
  settleIn(800);
  expect(await run()).toEqual({ afterMs: 800 });
  expect([...present.keys()]).toEqual(["00-offload-ovs-hw-offload"]);
  put("sriov", "offload");
  settleIn(0);
  await run();
  expect(applied).toEqual(["00-offload-ovs-hw-offload"]);
  remove("sriov");
  hold({ reason: "DefinitionMissing", message: "the kind does not exist", afterMs: 10_000 });
  expect(await run()).toEqual({ afterMs: 10_000 });
  expect([...present.keys()]).toEqual(["00-offload-ovs-hw-offload"]);
  hold(undefined);
  await run();
  expect([...present.keys()]).toEqual([]);
});
