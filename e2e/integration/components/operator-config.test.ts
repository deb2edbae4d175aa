// SPDX-License-Identifier: Apache-2.0
/**
 * The SriovOperatorConfig and the components that it deploys, on a real API server with a controller manager. The
 * operator is a process with its rights in a cluster. There are DaemonSets with counted pods, a garbage collector, and
 * an audit log.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import type { Condition, SriovOperatorConfigSpec } from "@switchyard/api";
import { connect, type Transport } from "@switchyard/kube";
import { featureGateDefaults } from "@switchyard/policy";
import { operatorIdentity } from "@switchyard/render";
import { eventually, isWrite, startControlPlane, type ControlPlane } from "@switchyard/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { simulatePods, type ComponentPods } from "../../src/pods/component-pods.ts";
import { spawnKept, type KeptProcess } from "../../src/kept-process.ts";
import { keepNodesReady } from "@switchyard/test-cluster";
import { crdFolder } from "../../src/crds/crd-objects.ts";
import { componentSettings, monitoringCrds, namespace } from "../../src/operator/identity-objects.ts";
import { createPlainApi, fieldAt } from "../../src/api/plain-api.ts";
import { componentImageFlags, deployedOperatorArguments } from "../../src/operator/operator-command.ts";

const account = componentSettings.operatorServiceAccount;
const operatorUser = `system:serviceaccount:${namespace}:${account}`;
const registrations = "/apis/admissionregistration.k8s.io/v1";
const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const ours = `/apis/sriovnetwork.openshift.io/v1/namespaces/${namespace}`;
const daemonSets = `/apis/apps/v1/namespaces/${namespace}/daemonsets`;
const config = `${ours}/sriovoperatorconfigs/default`;
const webhooks = {
  mutating: `${registrations}/mutatingwebhookconfigurations/sriov-operator-webhook-config`,
  validating: `${registrations}/validatingwebhookconfigurations/sriov-operator-webhook-config`,
};

let cluster: ControlPlane;
/** Has the operator's user name, whose requests the webhook does not review: the webhook never answers in this test. */
let admin: Transport;
let user: Transport;
let pods: ComponentPods;
let heartbeats: AsyncDisposable;
let operator: KeptProcess;

const { create, patch, remove, read } = createPlainApi(() => admin);

beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: true, auditLog: true });
  await cluster.applyCrds(crdFolder);
  admin = await connect({
    kubeconfig: await cluster.clientFor({ user: operatorUser, groups: ["system:masters"] }),
    userAgent: "test",
  });
  user = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "test" });
  await create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  for (const [name, role] of [
    ["control-1", "control-plane"],
    ["worker-1", "worker"],
  ]) {
    const labels = { "kubernetes.io/os": "linux", [`node-role.kubernetes.io/${role ?? ""}`]: "" };
    await create("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name, labels } });
  }
  heartbeats = await keepNodesReady(user, ["control-1", "worker-1"]);
  const identity = { apiVersion: "v1", kind: "List", items: operatorIdentity(componentSettings) };
  await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(identity) });
  pods = simulatePods(user, namespace);
  await leaveWhatUpstreamLeaves();
  operator = await startOperator();
}, 600_000);

afterEach(() => operator.mustBeAlive());

afterAll(async () => {
  await operator.kill();
  await heartbeats[Symbol.asyncDispose]();
  await pods[Symbol.asyncDispose]();
  await admin[Symbol.asyncDispose]();
  await user[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
}, 60_000);

async function startOperator(...flags: readonly string[]): Promise<KeptProcess> {
  const args = [...(await deployedOperatorArguments(cluster)), ...componentImageFlags, ...flags];
  return spawnKept(args, { log: operatorLog(), name: "operator-config-operator" });
}

function operatorLog(): string {
  return join(cluster.dataDir, "operator.log");
}

/**
 * Creates what upstream's operator leaves: a DaemonSet with settings that Switchyard does not use, one with another
 * selector, one that Switchyard does not deploy, and a ServiceAccount. A ClusterRole belongs to somebody else.
 */
async function leaveWhatUpstreamLeaves(): Promise<void> {
  const upstream = { fieldManager: "sriov-network-operator" };
  const daemonSet = (name: string, app: string, nodeSelector: Readonly<Record<string, string>>) => {
    const containers = [{ name, image: "upstream:1", env: [{ name: "LEGACY", value: "1" }] }];
    const template = { metadata: { labels: { app } }, spec: { nodeSelector, containers } };
    const spec = { selector: { matchLabels: { app } }, template };
    return { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name }, spec };
  };
  const plugin = daemonSet("sriov-device-plugin", "sriov-device-plugin", { legacy: "" });
  await create(daemonSets, plugin, upstream);
  await create(daemonSets, daemonSet("sriov-network-config-daemon", "other", {}), upstream);
  await create(daemonSets, daemonSet("sriov-cni", "sriov-cni", {}), upstream);
  const metadata = { name: "sriov-cni", labels: { app: "sriov-cni" } };
  const serviceAccounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await create(serviceAccounts, { apiVersion: "v1", kind: "ServiceAccount", metadata }, upstream);
  const stranger = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole" };
  await create(roles, { ...stranger, metadata: { name: "network-resources-injector" }, rules: [] });
}

async function createConfig(spec: SriovOperatorConfigSpec, name = "default", finalizers: readonly string[] = []) {
  const metadata = { name, finalizers };
  const body = { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovOperatorConfig", metadata, spec };
  await create(`${ours}/sriovoperatorconfigs`, body);
}

async function field(path: string, ...fields: readonly (string | number)[]): Promise<unknown> {
  return fieldAt(await read(path), ...fields);
}

const nodeSelector = ["spec", "template", "spec", "nodeSelector"] as const;
const pluginArgs = ["spec", "template", "spec", "containers", 0, "args"] as const;

/** Waits until the condition is True for the current generation and its message contains `words`. Returns the message. */
async function configIs(type: string, reason: string, words = "", path = config): Promise<string> {
  return eventually(`${path} ${type} ${reason}`, async () => {
    const object = await read(path);
    const list = fieldAt(object, "status", "conditions");
    const conditions: readonly Condition[] = Array.isArray(list) ? list : [];
    const found = conditions.find((condition) => condition.type === type);
    const isCurrent = found?.observedGeneration === fieldAt(object, "metadata", "generation");
    const holds = isCurrent && found?.status === "True" && found.reason === reason;
    if (holds && found.message.includes(words)) return found.message;
    throw new Error(`conditions: ${JSON.stringify(conditions)}`);
  });
}

/** Waits until the config is Ready and not Progressing. Returns the message of Ready. */
async function isReady(): Promise<string> {
  return eventually("Ready and not Progressing", async () => {
    const message = await configIs("Ready", "OperatorConfigReady");
    const list = await field(config, "status", "conditions");
    const conditions: readonly Condition[] = Array.isArray(list) ? list : [];
    return conditions.some(({ type, status }) => type === "Progressing" && status === "False") ? message : undefined;
  });
}

/** The operator's writes since `time`, as "verb path". */
async function writesSince(time: string): Promise<readonly string[]> {
  const mark = `mark-${Math.random().toString(36).slice(2)}`;
  await read(`/api/v1/namespaces/${mark}`);
  const events = await eventually("the mark in the audit log", async () => {
    const seen = await cluster.auditEvents();
    return seen.some(({ objectRef }) => objectRef?.name === mark) ? seen : undefined;
  });
  return events
    .filter((event) => isWrite(event) && event.user.username === operatorUser && event.userAgent !== "test")
    .filter(({ requestReceivedTimestamp }) => requestReceivedTimestamp > time)
    .map(({ verb, requestURI }) => `${verb} ${requestURI.replace(/\?.*/, "")}`);
}

/** The time as the audit log writes it: RFC 3339 with microseconds. The API server runs on the same machine. */
function now(): string {
  return new Date().toISOString().replace("Z", "000Z");
}

describe("a SriovOperatorConfig", () => {
  it("deploys nothing before it exists, and then its components over upstream's objects", async () => {
    expect(await field(`${daemonSets}/sriov-device-plugin`, ...nodeSelector)).toEqual({ legacy: "" });
    await createConfig({}, "default", ["operatorconfig.finalizers.sriovnetwork.openshift.io"]);
    await configIs("Progressing", "RollingOut", "sriov-network-config-daemon: 0 of 1 pods available");
    // Ready does not depend on the pods: an unreachable node must not block a pipeline that waits for Ready.
    expect(await configIs("Ready", "OperatorConfigReady")).toBe("deployed as configured: config-daemon, device-plugin");
    pods.run(true);
    await isReady();

    const plugin = await read(`${daemonSets}/sriov-device-plugin`);
    expect(fieldAt(plugin, ...nodeSelector)).not.toHaveProperty("legacy");
    expect(JSON.stringify(fieldAt(plugin, "spec", "template"))).not.toContain("LEGACY");
    expect(fieldAt(plugin, "metadata", "ownerReferences", 0)).toMatchObject({
      kind: "SriovOperatorConfig",
      name: "default",
    });
    const daemon = await read(`${daemonSets}/sriov-network-config-daemon`);
    expect(fieldAt(daemon, "spec", "selector", "matchLabels", "app")).toBe("sriov-network-config-daemon");
    expect(await read(`${daemonSets}/sriov-cni`)).toBeUndefined();
    expect(await read(`/api/v1/namespaces/${namespace}/serviceaccounts/sriov-cni`)).toBeUndefined();
    expect(await field(config, "metadata", "finalizers")).toBeUndefined();
    expect(await read(`${roles}/network-resources-injector`)).toBeDefined(); // belongs to somebody else
  });

  it("must have the name default: any other config is Degraded and has no effect", async () => {
    await createConfig({ enableInjector: true }, "other");
    const words = 'only the SriovOperatorConfig "default" is used';
    await configIs("Degraded", "UnsupportedConfiguration", words, `${ours}/sriovoperatorconfigs/other`);
    expect(await read(`${daemonSets}/network-resources-injector`)).toBeUndefined();
  });

  it("is applied again at each change, also when a setting is removed", async () => {
    const first = { useCDI: true, configDaemonNodeSelector: { rack: "1", "node-role.kubernetes.io/worker": "" } };
    await patch(config, { spec: first });
    await eventually("CDI and racks", async () => {
      const args = await field(`${daemonSets}/sriov-device-plugin`, ...pluginArgs);
      const selector = await field(`${daemonSets}/sriov-network-config-daemon`, ...nodeSelector);
      return Array.isArray(args) && args.includes("--use-cdi") && fieldAt(selector, "rack") === "1";
    });
    await patch(config, { spec: { useCDI: false, configDaemonNodeSelector: { rack: null } } });
    await eventually("no CDI and no racks", async () => {
      const plugin = await read(`${daemonSets}/sriov-device-plugin`);
      const selector = await field(`${daemonSets}/sriov-network-config-daemon`, ...nodeSelector);
      const args = fieldAt(plugin, ...pluginArgs);
      const isWithoutCdi = Array.isArray(args) && !args.includes("--use-cdi");
      return (
        isWithoutCdi &&
        fieldAt(selector, "rack") === undefined &&
        fieldAt(plugin, ...nodeSelector, "rack") === undefined
      );
    });
    await isReady();
  });

  it("can enable and disable all feature gates", async () => {
    const daemonEnv = ["spec", "template", "spec", "containers", 0, "env"] as const;
    const waitEnv = ["spec", "template", "spec", "initContainers", 0, "env"] as const;
    const gates = Object.keys(featureGateDefaults);
    for (const isOn of [true, false]) {
      await patch(config, { spec: { featureGates: Object.fromEntries(gates.map((gate) => [gate, isOn])) } });
      await isReady();
      expect((await read(`${daemonSets}/sriov-network-metrics-exporter`)) !== undefined).toBe(isOn);
      const daemon = await field(`${daemonSets}/sriov-network-config-daemon`, ...daemonEnv);
      expect(JSON.stringify(daemon).includes('{"name":"MAX_PFS","value":"1"}')).toBe(!isOn);
      const configurer = await field(`${daemonSets}/sriov-device-plugin`, ...waitEnv);
      expect(JSON.stringify(configurer)).toContain(`{"name":"BLOCK_UNTIL_CONFIGURED","value":"${String(isOn)}"}`);
    }
  });

  it("reports an unknown feature gate and is Ready all the same", async () => {
    await patch(config, { spec: { featureGates: { warpDrive: true } } });
    await eventually("the warning", async () => (await isReady()).includes("spec.featureGates.warpDrive"));
    await patch(config, { spec: { featureGates: null } });
  });

  it("sets the operator's log level at once", async () => {
    const plugin = `${daemonSets}/sriov-device-plugin`;
    const managedBy = "app.kubernetes.io/managed-by";
    const counted = async () => (await readFile(operatorLog(), "utf8")).split('"applied"').length;
    const repair = async (logLevel: number) => {
      await patch(config, { spec: { logLevel } });
      await isReady();
      const before = await counted();
      await patch(plugin, { metadata: { labels: { [managedBy]: "me" } } });
      await eventually("the repair", async () => (await field(plugin, "metadata", "labels", managedBy)) !== "me");
      return before;
    };
    const before = await repair(0);
    await repair(1);
    await eventually("the second repair is logged", async () => (await counted()) > before);
    expect(await counted()).toBe(before + 1);
    await patch(config, { spec: { logLevel: null } });
    await isReady();
  });
});

describe("the webhooks", () => {
  it("are registered once they serve, and are owned by the operator's ClusterRole", async () => {
    pods.run(false);
    await patch(config, { spec: { enableInjector: true, enableOperatorWebhook: true } });
    await configIs(
      "Progressing",
      "RollingOut",
      "operator-webhook is registered as a webhook once one of its pods is available",
    );
    expect(await read(webhooks.validating)).toBeUndefined();
    pods.run(true);
    await isReady();
    for (const path of [...Object.values(webhooks), `${roles}/operator-webhook`]) {
      expect(await field(path, "metadata", "ownerReferences", 0)).toMatchObject({ kind: "ClusterRole", name: account });
    }
  });

  it("do not block the operator's own requests when they do not serve (sriov-operator.md M-50)", async () => {
    const policy = {
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovNetworkNodePolicy",
      metadata: { name: "fast" },
      spec: { resourceName: "fast", numVfs: 2, nodeSelector: {}, nicSelector: { pfNames: ["ens1f0"] } },
    };
    const path = `${ours}/sriovnetworknodepolicies`;
    // No Service of this cluster has an endpoint, so each request that the webhook reviews fails.
    await expect(user.request({ method: "POST", path, body: policy })).rejects.toMatchObject({ code: "InternalError" });
    await create(path, policy);
    await eventually("the policy's status", async () => field(`${path}/fast`, "status", "conditions", 0));
    expect(await read(`${ours}/sriovnetworknodestates/worker-1`)).toBeDefined();
    pods.run(false);
    await configIs("Progressing", "RollingOut");
    pods.run(true);
    await isReady();
  });

  it("that upstream left registered and that do not serve are repaired before other requests (sriov-operator.md M-50)", async () => {
    await operator.kill();
    await patch(config, { metadata: { finalizers: ["operatorconfig.finalizers.sriovnetwork.openshift.io"] } });
    const body = [{ op: "remove", path: "/webhooks/0/matchConditions" }];
    for (const path of Object.values(webhooks)) {
      await admin.request({ method: "PATCH", path, body, contentType: "application/json-patch+json" });
    }
    operator = await startOperator();
    await eventually("no finalizer", async () => (await field(config, "metadata", "finalizers")) === undefined);
    await isReady();
  });

  it("that somebody deletes while they do not serve are registered again only when they serve", async () => {
    pods.run(false);
    await configIs("Progressing", "RollingOut");
    await remove(webhooks.validating);
    await configIs(
      "Progressing",
      "RollingOut",
      "operator-webhook is registered as a webhook once one of its pods is available",
    );
    expect(await read(webhooks.validating)).toBeUndefined();
    pods.run(true);
    await isReady();
    expect(await read(webhooks.validating)).toBeDefined();
  });
});

describe("a deployed object", () => {
  it("is restored within seconds when somebody edits or deletes it (sriov-operator.md M-53)", async () => {
    const service = `/api/v1/namespaces/${namespace}/services/operator-webhook-service`;
    const role = `${roles}/operator-webhook`;
    const before = { service: await field(service, "spec", "ports"), rules: await field(role, "rules") };
    await patch(service, { spec: { ports: [{ name: "https", port: 444, targetPort: 1 }] } });
    await patch(role, { rules: [] });
    await patch(`${daemonSets}/sriov-device-plugin`, { spec: { template: { spec: { nodeSelector: { rack: "9" } } } } });
    await patch(`${daemonSets}/operator-webhook`, { spec: { template: { spec: { priorityClassName: "" } } } });
    await remove(`${daemonSets}/sriov-network-config-daemon`);
    await remove(webhooks.mutating);
    const withinMs = 10_000;
    await eventually(
      "all objects are restored",
      async () => {
        const ports = await field(service, "spec", "ports", 0, "port");
        const rules = await field(role, "rules");
        const priority = await field(`${daemonSets}/operator-webhook`, "spec", "template", "spec", "priorityClassName");
        const isBack = await read(`${daemonSets}/sriov-network-config-daemon`);
        const registration = await read(webhooks.mutating);
        return (
          ports === 443 &&
          JSON.stringify(rules) === JSON.stringify(before.rules) &&
          priority === "system-cluster-critical" &&
          isBack !== undefined &&
          registration !== undefined
        );
      },
      { withinMs },
    );
    expect(await field(service, "spec", "ports")).toMatchObject(before.service ?? {});
    await isReady();
  });

  it("is restored each time when only a webhook configuration is deleted (sriov-operator.md M-53)", async () => {
    await isReady();
    for (const path of [...Object.values(webhooks), ...Object.values(webhooks)]) {
      await remove(path);
      await eventually(`${path} is back`, () => read(path), { withinMs: 10_000 });
    }
  });

  const control = "/api/v1/nodes/control-1";
  const isControl = { metadata: { labels: { "node-role.kubernetes.io/control-plane": "" } } };
  const isHidden = { metadata: { labels: { "node-role.kubernetes.io/control-plane": null } } };
  const allGates = { metricsExporter: true, resourceInjectorMatchCondition: true };
  it.each([
    ["with all feature gates", config, { spec: { useCDI: true, featureGates: allGates } }, {}],
    [
      "with empty values",
      config,
      { spec: { configDaemonNodeSelector: {}, configDaemonEnvVars: { TZ: "" }, disablePlugins: [] } },
      { spec: { configDaemonNodeSelector: null, configDaemonEnvVars: null, disablePlugins: null } },
    ],
    ["without a visible control plane node", control, isHidden, isControl],
  ])("is not written again by a restarted operator, %s", async (_where, path, change, undo) => {
    await patch(path, change);
    await isReady();
    await isRepaired(); // By then the operator has also handled the change above.
    await operator.kill();
    const begin = now();
    operator = await startOperator();
    const service = await isRepaired();
    await isReady();
    const writes = await writesSince(begin);
    await patch(path, undo);
    expect(writes).toEqual([`patch ${service}`]);
  });

  /** Edits a Service and waits until the operator has repaired it. By then it has handled all earlier changes. */
  async function isRepaired(): Promise<string> {
    const service = `/api/v1/namespaces/${namespace}/services/operator-webhook-service`;
    await patch(service, { metadata: { labels: { "app.kubernetes.io/managed-by": "me" } } });
    await eventually("the repair", async () => {
      return (await field(service, "metadata", "labels", "app.kubernetes.io/managed-by")) !== "me";
    });
    return service;
  }

  it("that the cluster refuses does not block the others, and is applied once the cluster accepts it", async () => {
    await operator.kill();
    operator = await startOperator("--prometheus-operator");
    await patch(config, { spec: { featureGates: { metricsExporter: true } } });
    const words = "ServiceMonitor sriov-network-metrics-exporter: NotFound (the API server does not serve this";
    await configIs("Degraded", "OperatorConfigSyncFailed", words);
    expect(await read(`${daemonSets}/sriov-network-metrics-exporter`)).toBeDefined();
    const crds = { apiVersion: "v1", kind: "List", items: monitoringCrds };
    await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(crds) });
    await isReady();
    const reasons = await cluster.kubectl(["get", "events", "-n", namespace, "-o", "jsonpath={.items[*].reason}"]);
    expect(reasons.split(" ")).toContain("OperatorConfigSyncFailed");
  });

  it("is deleted when its component is disabled", async () => {
    await patch(config, { spec: { enableInjector: false, enableOperatorWebhook: false, featureGates: null } });
    await isReady();
    for (const path of [
      ...Object.values(webhooks),
      `${registrations}/mutatingwebhookconfigurations/network-resources-injector-config`,
      `${daemonSets}/operator-webhook`,
      `${daemonSets}/sriov-network-metrics-exporter`,
      `${roles}/operator-webhook`,
      `/api/v1/namespaces/${namespace}/configmaps/nri-control-switches`,
    ]) {
      expect([path, await read(path)]).toEqual([path, undefined]);
    }
    expect(await read(`${daemonSets}/sriov-network-config-daemon`)).toBeDefined();
  });
});

describe("an AfxdpOperatorConfig", () => {
  const collection = `/apis/afxdpnetwork.hns.dev/v1alpha1/namespaces/${namespace}/afxdpoperatorconfigs`;
  const afxdpConfig = `${collection}/default`;
  const plugin = `${daemonSets}/afxdp-device-plugin`;
  const upstreamPlugins = `${daemonSets}/afxdp-plugins`;
  const kind = { apiVersion: "afxdpnetwork.hns.dev/v1alpha1", kind: "AfxdpOperatorConfig" };

  it("deploys the device plugin for AF_XDP on the nodes that it selects, and reports it", async () => {
    expect(await read(plugin)).toBeUndefined();
    const spec = { configDaemonNodeSelector: { afxdp: "" }, logLevel: 2 };
    await create(collection, { ...kind, metadata: { name: "default" }, spec });
    await configIs(
      "Progressing",
      "RollingOut",
      "none of the 2 nodes of the cluster has the labels afxdp=",
      afxdpConfig,
    );
    await patch("/api/v1/nodes/worker-1", { metadata: { labels: { afxdp: "" } } });
    await configIs("Ready", "OperatorConfigReady", "afxdp-device-plugin", afxdpConfig);
    expect(await field(plugin, ...nodeSelector)).toEqual({ afxdp: "" });
    expect(await isReady()).toContain("afxdp-device-plugin");
  });

  it("without effect is Degraded, and a SriovOperatorConfig stays Ready", async () => {
    await create(collection, { ...kind, metadata: { name: "other" }, spec: {} });
    await configIs("Degraded", "UnsupportedConfiguration", "has no effect", `${collection}/other`);
    await remove(`${collection}/other`);
    await isReady();
  });

  it("with provider upstream, deploys the plugins of upstream in place of the device plugin", async () => {
    await patch(afxdpConfig, { spec: { provider: "upstream" } });
    await configIs("Ready", "OperatorConfigReady", "deployed as configured: afxdp-plugins", afxdpConfig);
    await eventually("the other plugin is removed", async () => (await read(plugin)) === undefined);
    expect(await field(upstreamPlugins, ...nodeSelector)).toEqual({ afxdp: "" });
    const pod = await field(upstreamPlugins, "spec", "template", "spec");
    expect(pod).toMatchObject({ containers: [{ name: "afxdp-dp" }, { name: "follow-config" }] });
    await isReady();
    await patch(afxdpConfig, { spec: { provider: "switchyard" } });
    await configIs("Ready", "OperatorConfigReady", "deployed as configured: afxdp-device-plugin", afxdpConfig);
    await eventually("the plugins of upstream are removed", async () => (await read(upstreamPlugins)) === undefined);
  });

  it("removes the plugins when it is deleted", async () => {
    await patch(afxdpConfig, { spec: { provider: "upstream" } });
    await configIs("Ready", "OperatorConfigReady", "deployed as configured: afxdp-plugins", afxdpConfig);
    await remove(afxdpConfig);
    for (const path of [plugin, upstreamPlugins]) {
      await eventually("the plugin is removed", async () => (await read(path)) === undefined);
    }
  });
});

describe("uninstalling", () => {
  const admissionPolicy = `${registrations}/validatingadmissionpolicies/switchyard-own-node`;

  it("deletes all objects with the config, also if it is deleted in the foreground", async () => {
    await patch(config, { spec: { enableOperatorWebhook: true } });
    await isReady();
    await cluster.kubectl(["delete", "sriovoperatorconfig", "default", "-n", namespace, "--cascade=foreground"], {
      kubeconfig: await cluster.clientFor({ user: operatorUser, groups: ["system:masters"] }),
    });
    await eventually("all is gone", async () => {
      const left = await Promise.all(
        [...Object.values(webhooks), `${roles}/operator-webhook`, admissionPolicy].map(read),
      );
      const sets = fieldAt(await read(daemonSets), "items");
      return left.every((object) => object === undefined) && Array.isArray(sets) && sets.length === 0;
    });
  });

  it("deletes all objects when the operator's ClusterRole and the config are deleted while no operator runs", async () => {
    await createConfig({ enableOperatorWebhook: true });
    await isReady();
    await operator.kill();
    await remove(`${roles}/${account}`);
    await remove(config);
    await eventually("all is gone", async () => {
      const left = await Promise.all([...Object.values(webhooks), admissionPolicy].map(read));
      const sets = fieldAt(await read(daemonSets), "items");
      return left.every((object) => object === undefined) && Array.isArray(sets) && sets.length === 0;
    });
  });
});
