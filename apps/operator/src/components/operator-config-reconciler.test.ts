// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import {
  sriovOperatorConfigs,
  type AfxdpOperatorConfig,
  type AfxdpOperatorConfigSpec,
  type ObjectMeta,
  type OwnerReference,
  type Node,
  type SriovOperatorConfig,
  type SriovOperatorConfigSpec,
} from "@switchyard/api";
import { KubeError, ObjectStore } from "@switchyard/kube";
import { componentImageVariables, componentInventory, type ComponentSettings } from "@switchyard/render";
import type { ConditionSummary } from "../reports/condition-summary.ts";
import { createKeepingWriter } from "../testing/cluster.ts";
import { createComponentCluster } from "../testing/component-cluster.ts";
import { createOperatorConfigReconciler } from "./operator-config-reconciler.ts";

const namespace = "sriov-network-operator";

const settings: ComponentSettings = {
  namespace,
  resourcePrefix: "openshift.io",
  clusterType: "kubernetes",
  cniBinPath: "/opt/cni/bin",
  operatorServiceAccount: "switchyard-operator",
  images: Object.fromEntries(Object.keys(componentImageVariables).map((name) => [name, `example.com/${name}:1`])),
  imagePullSecrets: [],
  webhook: { certificates: { kind: "self-made" }, secretName: "operator-webhook-cert", port: 6443 },
  injector: { certificates: { kind: "cert-manager" }, secretName: "network-resources-injector-cert", port: 6443 },
  tls: { cipherSuites: [], curvePreferences: [] },
  metricsExporter: { port: 9110 },
  useExternalDrainer: false,
  devMode: false,
};

const owner: OwnerReference = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  name: "switchyard-operator",
  uid: "uid-role",
};

function setUp(overrides: Partial<ComponentSettings> = {}) {
  let version = 0;
  let time = Date.parse("2026-11-21T00:00:00Z");
  let clusterNodes: readonly Node[] = [];
  const configs = new ObjectStore({
    type: sriovOperatorConfigs,
    namespace,
    project: (config: SriovOperatorConfig) => config,
  });
  configs.beginList();
  configs.endList("0");
  const cluster = createComponentCluster(componentInventory(settings));
  const { writer, statuses } = createKeepingWriter<SriovOperatorConfig>();
  const told: ConditionSummary[] = [];
  const freed: ObjectMeta[] = [];
  let refusal: KubeError | undefined;
  let podRefusal: string | undefined;
  let afxdp: AfxdpOperatorConfig | undefined;
  const reports: (string | undefined)[] = [];
  const lines: string[] = [];
  const keep = (level: string) => (fields: unknown, message?: unknown) => {
    lines.push(`${level} ${String(message)} ${JSON.stringify(fields)}`);
  };
  /** Names of deleted SriovOperatorConfigs that the cache still shows. */
  const gone = new Set<string>();
  const reconcile = createOperatorConfigReconciler({
    ...cluster.deps,
    log: { ...cluster.deps.log, info: keep("info"), debug: keep("debug") },
    configs,
    writer,
    afxdp: () => afxdp,
    reportAfxdp(summary) {
      reports.push(summary && `${summary.state}: ${summary.message}`);
    },
    nodes: () => clusterNodes,
    settings: () => ({ ...settings, ...overrides }),
    owner: () => owner,
    configExists: ({ metadata }) => Promise.resolve(!gone.has(metadata.name)),
    removeFinalizer(metadata) {
      if (refusal !== undefined) return Promise.reject(refusal);
      freed.push(metadata);
      return Promise.resolve();
    },
    recordTransition(_config, summary) {
      told.push(summary);
    },
    recordContest: () => undefined,
    findPodRefusals(pending) {
      const sentences = podRefusal === undefined ? [] : pending.map((name) => `${name}: ${podRefusal ?? ""}`);
      return Promise.resolve({ sentences, afterMs: pending.length === 0 ? undefined : 60_000 });
    },
    now: () => new Date(time),
    elapsedMs: () => time,
  });

  function put(name: string, spec: SriovOperatorConfigSpec, rest: Partial<SriovOperatorConfig> = {}): void {
    configs.upsert({
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovOperatorConfig",
      spec,
      ...rest,
      metadata: {
        ...rest.metadata,
        name,
        namespace,
        uid: `uid-${name}`,
        generation: rest.metadata?.generation ?? 3,
        resourceVersion: `${++version}`,
      },
    });
  }
  return {
    cluster,
    statuses,
    told,
    freed,
    configs,
    put,
    reports,
    lines,
    pass(seconds: number): void {
      time += seconds * 1_000;
    },
    setNodes(nodes: readonly Node[]): void {
      clusterNodes = nodes;
    },
    putAfxdp(spec: AfxdpOperatorConfigSpec | undefined): void {
      const metadata = { name: "default", namespace, uid: "uid-afxdp" };
      afxdp = spec && { apiVersion: "afxdpnetwork.hns.dev/v1alpha1", kind: "AfxdpOperatorConfig", metadata, spec };
    },
    refusePods(words: string | undefined): void {
      podRefusal = words;
    },
    /** Deletes it while the cache still shows it. */
    loseUnheard(name: string): void {
      gone.add(name);
    },
    /** Makes the API server refuse the removal of the finalizer with this error. */
    holdFinalizer(error: KubeError | undefined): void {
      refusal = error;
    },
    run: (name = "default") => reconcile(name, AbortSignal.timeout(10_000)),
    rollAll(counts = { desired: 2, updated: 2, available: 2 }) {
      for (const name of cluster.present().filter((one) => one.startsWith("DaemonSet "))) {
        cluster.roll(name.slice("DaemonSet ".length), counts);
      }
    },
    conditions: (name = "default") =>
      statuses.get(name)?.conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`),
    message: (name = "default") => statuses.get(name)?.conditions?.[0]?.message,
  };
}

describe('SriovOperatorConfig "default"', () => {
  it("is ready once it is deployed, and Progressing counts missing pods", async () => {
    const { put, run, rollAll, conditions, message, statuses } = setUp();
    put("default", {});
    expect(await run()).toBeUndefined();
    rollAll({ desired: 5, updated: 3, available: 4 });
    await run();
    expect(conditions()).toEqual([
      ...["Ready True OperatorConfigReady", "Progressing True RollingOut", "Degraded False OperatorConfigReady"],
    ]);
    expect(message()).toBe("deployed as configured: config-daemon, device-plugin");
    const counts = "sriov-device-plugin: 3 of 5 pods updated, 4 of 5 pods available";
    expect(statuses.get("default")?.conditions?.[1]?.message).toContain(counts);
    rollAll();
    await run();
    expect(conditions()?.slice(0, 2)).toEqual([
      "Ready True OperatorConfigReady",
      "Progressing False OperatorConfigReady",
    ]);
    expect(statuses.get("default")?.observedGeneration).toBe(3);
  });

  it("says why the pods of a DaemonSet are refused, and asks again as long as pods are missing", async () => {
    const { put, run, rollAll, refusePods, statuses } = setUp();
    put("default", {});
    await run();
    rollAll({ desired: 2, updated: 0, available: 0 });
    refusePods("its pods are refused: exceeded quota");
    expect(await run()).toEqual({ afterMs: 60_000 });
    const progressing = statuses.get("default")?.conditions?.find(({ type }) => type === "Progressing")?.message;
    expect(progressing).toContain("sriov-device-plugin: its pods are refused: exceeded quota");
    rollAll();
    expect(await run()).toBeUndefined();
  });

  it("is not ready while a DaemonSet can run on no node, and says which labels are missing", async () => {
    const { put, run, rollAll, conditions, message, setNodes } = setUp();
    const labels = { "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": "" };
    setNodes([{ apiVersion: "v1", kind: "Node", metadata: { name: "worker-1", labels } }]);
    put("default", { configDaemonNodeSelector: { sriov: "yes" } });
    await run();
    rollAll({ desired: 0, updated: 0, available: 0 });
    await run();
    expect(conditions()?.slice(0, 2)).toEqual(["Ready False RollingOut", "Progressing True RollingOut"]);
    expect(message()).toContain("can run on no node: the only node of the cluster does not have the labels sriov=yes");
    put("default", {});
    await run();
    rollAll();
    await run();
    expect(conditions()?.[0]).toBe("Ready True OperatorConfigReady");
  });

  it("keeps what users add to the configuration of the injector", async () => {
    const { put, run, cluster } = setUp();
    put("default", { enableInjector: true });
    await run();
    const injections = { "user-defined-injections": { a: { op: "add" } } };
    const data = { "config.json": JSON.stringify(injections) };
    cluster.put("somebody", "ConfigMap", "nri-control-switches", { data });
    await run();
    const stored = JSON.stringify(cluster.get("ConfigMap", "nri-control-switches"));
    expect(stored).toContain("user-defined-injections");
    expect(stored).toContain("enableHugePageDownApi");
  });

  it("has all problems in one message, and the valid parts are deployed", async () => {
    const { put, run, conditions, message, cluster } = setUp({ images: { ...settings.images, injector: undefined } });
    put("default", { enableInjector: true, enableOperatorWebhook: true, featureGates: { warpDrive: true } });
    cluster.refuse("operator-webhook-service", "Forbidden");
    expect(await run()).toEqual({ afterMs: 5_000 });
    expect(conditions()?.[2]).toBe("Degraded True UnsupportedConfiguration");
    expect(message()).toContain("spec.enableInjector: cannot be deployed");
    expect(message()).toContain("Service operator-webhook-service: Forbidden (not today)");
    expect(message()).toContain("spec.featureGates.warpDrive: is not a feature gate");
    expect(cluster.present()).toContain("DaemonSet sriov-network-config-daemon");
    expect(cluster.present()).not.toContain("DaemonSet network-resources-injector");
  });

  it("says that ovnHardwareOffload has no effect until the service ovn-offload has reported about it", async () => {
    const { put, run, message } = setUp();
    const spec = { ovnHardwareOffload: [{ nodeSelector: { "example.com/dpu": "" } }] };
    put("default", spec);
    await run();
    expect(message()).toMatch(
      /; spec\.ovnHardwareOffload: has no effect, because the service ovn-offload has not reported about it: set the chart's value ovnOffload\.enabled to true/,
    );
    const lastTransitionTime = "2026-11-20T00:00:00Z";
    const served = {
      type: "HardwareOffload",
      status: "False",
      reason: "Waiting",
      message: "",
      lastTransitionTime,
    } as const;
    put("default", spec, { status: { conditions: [served] } });
    await run();
    expect(message()).not.toContain("ovnHardwareOffload");
  });

  it("warns with a reason of its own, which becomes an event, if ovn-offload has not reported for a minute", async () => {
    const { put, pass, run, told } = setUp();
    const spec = { ovnHardwareOffload: [{ nodeSelector: { "example.com/dpu": "" } }] };
    const last = () => [told.at(-1)?.state, told.at(-1)?.reason, told.at(-1)?.isWarning ?? false];
    put("default", spec);
    expect(await run()).toEqual({ afterMs: 60_000 });
    expect(last()).toEqual(["ready", "OperatorConfigReady", false]);
    pass(60);
    expect(await run()).toBeUndefined();
    expect(last()).toEqual(["ready", "OffloadServiceMissing", true]);
    put("default", {});
    await run();
    expect(last()).toEqual(["ready", "OperatorConfigReady", false]);
    put("default", spec);
    await run();
    expect(last()).toEqual(["ready", "OperatorConfigReady", false]);
  });

  it("keeps the reason OffloadServiceMissing over a restart of the operator", async () => {
    const { put, run, told } = setUp();
    const stored = { type: "Ready", status: "True", reason: "OffloadServiceMissing", message: "" } as const;
    const conditions = [{ ...stored, lastTransitionTime: "2026-11-20T00:00:00Z" }];
    put("default", { ovnHardwareOffload: [{ nodeSelector: { a: "b" } }] }, { status: { conditions } });
    await run();
    expect(told.at(-1)?.reason).toBe("OffloadServiceMissing");
  });

  it("is logged once for each changed spec: its arrival, the components in detail, and what came of it", async () => {
    const { put, run, lines } = setUp();
    put("default", { logLevel: 2 });
    await run();
    const about = () => lines.filter((line) => !line.startsWith("info applied "));
    expect(about()[0]).toBe('info Reconciling SriovOperatorConfig {"generation":3}');
    expect(about()).toContainEqual(
      expect.stringMatching(
        /^debug applying component \{"component":"operator-webhook","state":"disabled","objects":0\}$/,
      ),
    );
    expect(about().at(-1)).toMatch(
      /^info SriovOperatorConfig is reconciled .*"disableDrain":false,"logLevel":2,"refused":0\}$/,
    );
    const { length } = about();
    await run();
    expect(about().slice(length)).toEqual([]);
    put("default", { logLevel: 2, disableDrain: true }, { metadata: { name: "default", generation: 4 } });
    await run();
    expect(about()[length]).toContain('Reconciling SriovOperatorConfig {"generation":4}');
    expect(lines.at(-1)).toContain('"disableDrain":true');
  });

  it("keeps the conditions of other controllers", async () => {
    const { put, run, conditions } = setUp();
    const lastTransitionTime = "2026-11-20T00:00:00Z";
    const other = { type: "Other", status: "True", reason: "Theirs", message: "", lastTransitionTime } as const;
    put("default", {}, { status: { conditions: [other] } });
    await run();
    expect(conditions()).not.toContain("Other True Theirs");
  });

  it("owns the objects in its namespace; the operator's ClusterRole owns the others", async () => {
    const { put, run, cluster } = setUp();
    put("default", {});
    await run();
    const ownerOf = (kind: string, name: string) =>
      cluster.get(kind, name)?.metadata.ownerReferences?.map(({ kind: of, uid }) => `${of} ${uid}`);
    expect(ownerOf("DaemonSet", "sriov-device-plugin")).toEqual(["SriovOperatorConfig uid-default"]);
    expect(ownerOf("ClusterRole", "sriov-network-config-daemon")).toEqual(["ClusterRole uid-role"]);
  });

  it("removes what the garbage collector does not when it is deleted, and recreates nothing meanwhile", async () => {
    const { put, run, cluster, configs, freed } = setUp();
    put("default", {});
    await run();
    const going = { name: "default", deletionTimestamp: "2026-11-21T00:00:00Z", finalizers: ["upstream"] };
    put("default", {}, { metadata: going });
    await run();
    expect(freed.at(-1)?.finalizers).toEqual(["upstream"]);
    const left = cluster.present();
    expect(left).toContain("DaemonSet sriov-device-plugin"); // left to the garbage collector
    expect(left.filter((one) => one.startsWith("ClusterRole") || one.startsWith("Validating"))).toEqual([]);
    configs.remove({ name: "default", namespace });
    const { length } = cluster.history;
    await run();
    expect(cluster.history.slice(length)).toEqual([]);
  });
});

describe("without a SriovOperatorConfig", () => {
  const daemonSets = (present: readonly string[]) => present.filter((one) => one.startsWith("DaemonSet "));
  const forAfxdp = ["DaemonSet afxdp-device-plugin", "DaemonSet sriov-network-config-daemon"];

  it("deploys what AF_XDP needs for the AfxdpOperatorConfig, which owns it, and reports it", async () => {
    const { putAfxdp, run, rollAll, cluster, reports } = setUp();
    await run();
    expect(daemonSets(cluster.present())).toEqual([]);
    putAfxdp({ configDaemonNodeSelector: { xdp: "yes" } });
    await run();
    rollAll();
    await run();
    expect(daemonSets(cluster.present()).toSorted()).toEqual(forAfxdp);
    const daemon = cluster.get("DaemonSet", "sriov-network-config-daemon");
    expect(daemon?.metadata.ownerReferences).toMatchObject([{ kind: "AfxdpOperatorConfig", uid: "uid-afxdp" }]);
    expect(daemon).toMatchObject({ spec: { template: { spec: { nodeSelector: { xdp: "yes" } } } } });
    expect(reports.at(-1)).toBe("ready: deployed as configured: config-daemon, afxdp-device-plugin");
    putAfxdp(undefined);
    await run();
    expect(reports.at(-1)).toBeUndefined();
    expect(cluster.present().filter((one) => one.includes("RoleBinding"))).toEqual([]);
  });

  it("reports what the API server refuses", async () => {
    const { putAfxdp, run, cluster, reports } = setUp();
    putAfxdp({});
    cluster.refuse("afxdp-device-plugin", "Forbidden");
    expect(await run()).toEqual({ afterMs: 5_000 });
    expect(reports.at(-1)).toContain("degraded: ServiceAccount afxdp-device-plugin: Forbidden (not today)");
  });

  it("changes the owner when a SriovOperatorConfig comes and goes", async () => {
    const { put, putAfxdp, run, cluster, configs, reports } = setUp();
    const owners = () =>
      cluster.get("DaemonSet", "afxdp-device-plugin")?.metadata.ownerReferences?.map(({ kind }) => kind);
    putAfxdp({});
    await run();
    put("default", {});
    await run();
    expect([owners(), reports.at(-1)]).toEqual([["SriovOperatorConfig"], undefined]);
    expect(daemonSets(cluster.present())).toContain("DaemonSet sriov-device-plugin");
    configs.remove({ name: "default", namespace });
    await run();
    expect([owners(), daemonSets(cluster.present()).toSorted()]).toEqual([["AfxdpOperatorConfig"], forAfxdp]);
  });
});

describe("a SriovOperatorConfig that is deleted while the cache still shows it", () => {
  it("gets no objects recreated that the garbage collector deletes", async () => {
    const { put, run, loseUnheard, cluster } = setUp();
    put("default", {});
    await run();
    loseUnheard("default");
    cluster.lose("DaemonSet", "sriov-device-plugin");
    const { length } = cluster.history;
    expect(await run()).toEqual({ afterMs: 500 });
    expect(cluster.history.slice(length)).toEqual([]);
  });

  it("is not read from the API server while no object is missing", async () => {
    const { put, run, rollAll, loseUnheard, conditions } = setUp();
    put("default", {});
    await run();
    loseUnheard("default");
    rollAll();
    expect(await run()).toBeUndefined();
    expect(conditions()?.[0]).toBe("Ready True OperatorConfigReady");
  });
});

describe("upstream's finalizer while upstream's webhook is registered without a server (sriov-operator.md M-50)", () => {
  const unanswered = new KubeError("PATCH", "InternalError", { status: 500, words: "failed calling webhook" });

  it("does not prevent the correction of objects, and is removed afterwards", async () => {
    const { put, run, cluster, holdFinalizer, conditions, message, freed } = setUp();
    put("default", {});
    holdFinalizer(unanswered);
    expect(await run()).toEqual({ afterMs: 5_000 });
    expect(cluster.present()).toContain("DaemonSet sriov-network-config-daemon");
    expect(conditions()?.[2]).toBe("Degraded True OperatorConfigSyncFailed");
    expect(message()).toContain("SriovOperatorConfig default: InternalError (failed calling webhook)");
    holdFinalizer(undefined);
    await run();
    expect(freed).toHaveLength(1);
  });

  it("does not prevent the removal of objects", async () => {
    const { put, run, cluster, holdFinalizer } = setUp();
    put("default", {});
    await run();
    put("default", {}, { metadata: { name: "default", deletionTimestamp: "2026-11-21T00:00:00Z" } });
    holdFinalizer(unanswered);
    expect(await run()).toEqual({ afterMs: 5_000 });
    expect(cluster.present().filter((one) => one.startsWith("ClusterRole"))).toEqual([]);
  });

  it("is retried at once after a conflict", async () => {
    const { put, run, holdFinalizer } = setUp();
    put("default", {});
    holdFinalizer(new KubeError("PATCH", "Conflict", { status: 409 }));
    await expect(run()).rejects.toMatchObject({ code: "Conflict" });
  });
});

describe("a SriovOperatorConfig with another name", () => {
  it("deploys nothing and reports it", async () => {
    const { put, run, cluster, conditions, message, told } = setUp();
    put("other", { enableInjector: true });
    await run("other");
    expect(cluster.present()).toEqual([]);
    expect(conditions("other")?.[2]).toBe("Degraded True UnsupportedConfiguration");
    expect(message("other")).toContain('only the SriovOperatorConfig "default" is used');
    expect(told).toHaveLength(1);
  });
});
