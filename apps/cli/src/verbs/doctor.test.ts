// SPDX-License-Identifier: Apache-2.0
/** Each case injects one fault into a healthy cluster, and expects its code at its object, and no other error or warning. */
import { beforeAll, describe, expect, it } from "@jest/globals";
import { isJsonObject, labelOf, listAt, textAt } from "../json.ts";
import { findingCatalogue } from "../diagnosis/finding-catalogue.ts";
import {
  expiredBundle,
  expiredCertificate,
  expiringBundle,
  expiringCertificate,
  serverCa,
  validBundle,
  validCertificate,
} from "../diagnosis/testing/server-certificates.ts";
import { client, healthyCluster, type Editable } from "../diagnosis/testing/healthy-cluster.ts";
import { runCli } from "../testing/run-cli.ts";
import { policy } from "../testing/objects.ts";

const ns = "sriov-network-operator";
let healthy: readonly Editable[] = [];

beforeAll(async () => {
  healthy = await healthyCluster();
});

/** A copy of the healthy cluster. */
function copyOf(): Editable[] {
  return structuredClone([...healthy]);
}

interface Fault {
  readonly code: string;
  /** The object of the finding. */
  readonly on: string;
  readonly what: string;
  readonly inject: (cluster: Editable[]) => Editable[];
  /** Further codes that the same fault causes. */
  readonly also?: readonly string[];
  readonly severity?: string;
}

/** Changes the values at paths of the objects of a kind; undefined removes a value. */
function set(kind: string, changes: Readonly<Record<string, unknown>>, name?: string) {
  return (cluster: Editable[]): Editable[] => {
    const chosen = cluster.filter((each) => each["kind"] === kind && (name === undefined || nameOf(each) === name));
    if (chosen.length === 0) throw new Error(`no ${kind} ${name ?? ""}`);
    for (const object of chosen)
      for (const [path, value] of Object.entries(changes)) setAt(object, path.split("|"), value);
    return cluster;
  };
}

function setAt(object: Editable, [key = "", ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    if (value === undefined) Reflect.deleteProperty(object, key);
    else object[key] = value;
    return;
  }
  const next = object[key];
  const inner: Editable = typeof next === "object" && next !== null ? (next as Editable) : {};
  object[key] = inner;
  setAt(inner, rest, value);
}

const nameOf = (object: Editable): string | undefined => textAt(object["metadata"], "name");
const without = (kind: string, name?: string) => (cluster: Editable[]) =>
  cluster.filter((each) => each["kind"] !== kind || (name !== undefined && nameOf(each) !== name));
const plus =
  (...more: readonly Editable[]) =>
  (cluster: Editable[]) => [...cluster, ...more];
const both =
  (...steps: readonly ((cluster: Editable[]) => Editable[])[]) =>
  (cluster: Editable[]) =>
    steps.reduce((changed, step) => step(changed), cluster);

const secretRef = `Secret/${ns}/operator-webhook-cert`;
/** A server with this certificate, and a webhook configuration that trusts this CA. */
const served = (certificate: string, caBundle: string) =>
  both(
    set("ValidatingWebhookConfiguration", { "webhooks|0|clientConfig|caBundle": caBundle }),
    plus({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "operator-webhook-cert", namespace: ns },
      data: { "tls.crt": certificate, "tls.key": Buffer.from("a secret key").toString("base64") },
    }),
  );

const requested = "metadata|annotations|sriovnetwork.openshift.io/desired-state";
const answered = "metadata|annotations|sriovnetwork.openshift.io/current-state";
const pending = (changes: Readonly<Record<string, unknown>>) => both(plus(client("new")), set("Pod", changes, "new"));
const state1 = `SriovNetworkNodeState/${ns}/worker-1`;
const fast = `SriovNetworkNodePolicy/${ns}/fast`;
const upstream = { "status|conditions": undefined };
const condition = (type: string, reason: string, status = "True") => [
  { type, status, reason, message: "because", lastTransitionTime: "2026-01-05T10:59:00Z" },
];

const driver = "sriovnetwork.k8snetworkplumbingwg.io";
const ofResource = 'device.attributes["k8s.cni.cncf.io"].resourceName == "openshift.io/nics"';
const classes = ["nics", "gpu"].map((name): Editable => {
  const expression =
    name === "gpu" ? 'device.driver == "gpu.example"' : `device.driver == "${driver}" && ${ofResource}`;
  const spec = { selectors: [{ cel: { expression } }] };
  return { apiVersion: "resource.k8s.io/v1", kind: "DeviceClass", metadata: { name }, spec };
});
/** A slice of worker-1 with two VFs; the first one belongs to the claim apps/other. */
const slice = (...taints: readonly object[]): Editable => ({
  apiVersion: "resource.k8s.io/v1",
  kind: "ResourceSlice",
  metadata: { name: "worker-1-sriov-0" },
  spec: {
    driver,
    nodeName: "worker-1",
    pool: { name: "worker-1", generation: 3, resourceSliceCount: 1 },
    devices: ["0000-3b-02-0", "0000-3b-02-1"].map((name) => ({
      name,
      attributes: { "k8s.cni.cncf.io/resourceName": { string: "openshift.io/nics" }, PFName: { string: "ens1f0" } },
      ...(taints.length > 0 && { taints }),
    })),
  },
});
const claim = (name: string, request: object, device?: string): Editable => ({
  apiVersion: "resource.k8s.io/v1",
  kind: "ResourceClaim",
  metadata: { name, namespace: "apps" },
  spec: { devices: { requests: [{ name: "nic", exactly: { deviceClassName: "nics", ...request } }] } },
  status: device && {
    allocation: { devices: { results: [{ request: "nic", driver, pool: "worker-1", device }] } },
  },
});
const claimant: Editable = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "claimant", namespace: "apps" },
  spec: { containers: [], resourceClaims: [{ name: "nic", resourceClaimName: "mine" }] },
  status: { phase: "Pending" },
};
const taken = claim("other", {}, "0000-3b-02-0");
const mine = "ResourceClaim/apps/mine";
const claims = (request: object, ...more: readonly Editable[]) =>
  plus(...classes, claimant, claim("mine", request), ...more);

const operatorDeployment = `Deployment/${ns}/sriov-network-operator`;
const deployment = (replicas: number, availableReplicas: number): Editable => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "sriov-network-operator", namespace: ns },
  spec: { replicas },
  status: { availableReplicas },
});
const podOf = (name: string, labels: Editable, container: Editable): Editable => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: ns, labels },
  status: { phase: "Running", containerStatuses: [container] },
});
const crashing = {
  name: "operator",
  restartCount: 23,
  state: { waiting: { reason: "CrashLoopBackOff", message: "back-off 5m0s" } },
  lastState: { terminated: { reason: "Error", exitCode: 64 } },
};

const faults: readonly Fault[] = [
  {
    code: "OperatorNotRunning",
    on: operatorDeployment,
    what: "the operator crashes again and again",
    inject: plus(deployment(1, 0), podOf("operator-0", { name: "sriov-network-operator" }, crashing)),
    also: ["ContainerNotRunning"],
  },
  {
    code: "OperatorNotRunning",
    on: operatorDeployment,
    what: "the operator is scaled to 0",
    inject: plus(deployment(0, 0)),
  },
  {
    code: "OperatorNotRunning",
    on: operatorDeployment,
    what: "its pod crashes, in an input without Deployments",
    inject: plus(podOf("operator-0", { name: "sriov-network-operator" }, crashing)),
    also: ["ContainerNotRunning"],
  },
  {
    code: "OperatorUnknown",
    on: operatorDeployment,
    what: "the input does not show the operator",
    severity: "info",
    inject: without("Lease"),
  },
  {
    code: "ContainerNotRunning",
    on: `Pod/${ns}/operator-webhook-0`,
    what: "an image cannot be pulled",
    inject: plus(
      podOf(
        "operator-webhook-0",
        { app: "operator-webhook" },
        {
          name: "webhook",
          restartCount: 0,
          state: { waiting: { reason: "ImagePullBackOff", message: 'Back-off pulling image "webhook:9"' } },
        },
      ),
    ),
  },
  {
    code: "ContainerOutOfMemory",
    on: `Pod/${ns}/operator-webhook-0`,
    what: "a container ran out of memory",
    inject: plus(
      podOf(
        "operator-webhook-0",
        { app: "operator-webhook" },
        {
          name: "webhook",
          restartCount: 1,
          state: { running: {} },
          lastState: { terminated: { reason: "OOMKilled", exitCode: 137 } },
        },
      ),
    ),
  },
  {
    code: "NodeSyncFailed",
    on: state1,
    what: "upstream's status is Failed",
    inject: set(
      "SriovNetworkNodeState",
      { ...upstream, "status|syncStatus": "Failed", "status|lastSyncError": "EBUSY" },
      "worker-1",
    ),
  },
  {
    code: "NodeInProgressTooLong",
    on: state1,
    what: "upstream's daemon retries without an error",
    inject: set("SriovNetworkNodeState", { ...upstream, "status|syncStatus": "InProgress" }, "worker-1"),
  },
  {
    code: "NodeNeverReported",
    on: state1,
    what: "the daemon has never reported",
    inject: set("SriovNetworkNodeState", { status: {} }, "worker-1"),
  },
  {
    code: "NodeStateMissing",
    on: "Node/worker-1",
    what: "a node has no node state",
    inject: without("SriovNetworkNodeState", "worker-1"),
  },
  {
    code: "NodeStateWithoutNode",
    on: state1,
    what: "a node is gone",
    inject: without("Node", "worker-1"),
  },
  {
    code: "NodeNotConfiguredSinceBoot",
    on: state1,
    what: "a node has booted an hour ago",
    inject: set("Node", { "status|nodeInfo|bootID": "boot-2" }, "worker-1"),
  },
  {
    code: "NodeLeftCordoned",
    on: "Node/worker-1",
    what: "a node stayed cordoned after its drain",
    inject: set(
      "Node",
      { "spec|unschedulable": true, "metadata|annotations|switchyard.io/cordoned-by": "operator" },
      "worker-1",
    ),
  },
  {
    code: "KubernetesTooOld",
    on: "Node/worker-1",
    what: "a kubelet is too old",
    inject: set("Node", { "status|nodeInfo|kubeletVersion": "v1.29.4" }, "worker-1"),
  },
  {
    code: "DrainWaits",
    on: state1,
    what: "a drain is requested and not started",
    severity: "info",
    inject: set("SriovNetworkNodeState", { [requested]: "Drain_Required" }, "worker-1"),
  },
  {
    code: "DrainWaits",
    on: `AfxdpNetworkNodeState/${ns}/worker-1`,
    what: "a node with AF_XDP only waits",
    also: ["NodeStateMissing"],
    inject: both(
      without("SriovNetworkNodeState", "worker-1"),
      plus({
        apiVersion: "afxdpnetwork.hns.dev/v1alpha1",
        kind: "AfxdpNetworkNodeState",
        metadata: {
          name: "worker-1",
          namespace: ns,
          annotations: { "sriovnetwork.openshift.io/desired-state": "Drain_Required" },
        },
      }),
    ),
  },
  {
    code: "DrainTakesLong",
    on: state1,
    what: "a drain does not end",
    inject: set("SriovNetworkNodeState", { [requested]: "Drain_Required", [answered]: "Draining" }, "worker-1"),
  },
  {
    code: "DisruptionBudgetBlocksDrain",
    on: "PodDisruptionBudget/apps/client",
    what: "a budget allows nothing",
    also: ["DrainTakesLong"],
    inject: both(
      set("SriovNetworkNodeState", { [requested]: "Drain_Required", [answered]: "Draining" }, "worker-1"),
      set("PodDisruptionBudget", { "status|disruptionsAllowed": 0 }),
    ),
  },
  {
    code: "DaemonPodNotRunning",
    on: "Node/worker-1",
    what: "the config daemon is missing on a node",
    inject: without("Pod", "config-daemon-worker-1"),
  },
  {
    code: "DaemonPodNotRunning",
    on: "Node/worker-1",
    what: "the config daemon crashes again and again",
    inject: set("Pod", { "status|containerStatuses": [crashing] }, "config-daemon-worker-1"),
  },
  {
    code: "DevicePluginStale",
    on: "Node/worker-1",
    what: "a node offers fewer devices than it has VFs",
    inject: set("Node", { "status|allocatable|openshift.io/nics": "2" }, "worker-1"),
  },
  {
    code: "VfsWithoutPolicy",
    on: state1,
    what: "VFs remain of a deleted policy",
    inject: set(
      "SriovNetworkNodeState",
      {
        "status|interfaces|1": {
          pciAddress: "0000:3c:00.0",
          name: "ens2f0",
          vendor: "8086",
          deviceID: "158b",
          totalvfs: 64,
          numVfs: 2,
        },
      },
      "worker-1",
    ),
  },
  {
    code: "EqualVfMacs",
    on: `SriovNetworkNodeState/${ns}/worker-2`,
    what: "VFs of two nodes with the same machine-id have the same MAC address",
    inject: set("SriovNetworkNodeState", {
      "status|interfaces|0|Vfs|0|adminMac": "02:00:00:00:00:07",
      "status|interfaces|0|Vfs|1|mac": "02:00:00:00:00:08",
    }),
  },
  {
    code: "EqualVfMacs",
    on: `SriovNetworkNodeState/${ns}/worker-1`,
    what: "two VFs of one PF have the same MAC address",
    inject: set(
      "SriovNetworkNodeState",
      {
        "status|interfaces|0|Vfs|0|adminMac": "02:00:00:00:00:17",
        "status|interfaces|0|Vfs|1|adminMac": "02:00:00:00:00:17",
      },
      "worker-1",
    ),
  },
  {
    code: "ObjectRefused",
    on: `SriovNetworkNodePolicy/${ns}/other`,
    what: "a policy violates its CustomResourceDefinition",
    inject: plus({ ...policy("other", { nicSelector: { vendor: "INTEL" } }) }),
  },
  {
    code: "PolicyOutsideOperatorNamespace",
    on: "SriovNetworkNodePolicy/apps/mine",
    what: "a policy is in another namespace",
    inject: both(plus({ ...policy("mine") }), set("SriovNetworkNodePolicy", { "metadata|namespace": "apps" }, "mine")),
  },
  {
    code: "NodeSetEmpty",
    on: `SriovOperatorConfig/${ns}/default`,
    what: "the selector of the config daemon has a misspelt label",
    inject: set("SriovOperatorConfig", { "spec|configDaemonNodeSelector": { "node-role.kubernetes.io/wroker": "" } }),
  },
  {
    code: "NodeSelectorMatchesNothing",
    on: `SriovNetworkNodePolicy/${ns}/other`,
    what: "a nodeSelector has a misspelt label",
    inject: plus({ ...policy("other", { nodeSelector: { "node-role.kubernetes.io/wroker": "" } }) }),
  },
  {
    code: "NicSelectorMatchesNothing",
    on: `SriovNetworkNodePolicy/${ns}/other`,
    what: "a nicSelector has a misspelt name",
    inject: plus({ ...policy("other", { nicSelector: { pfNames: ["ens1f1"], vendor: "8086" } }) }),
  },
  {
    code: "NicSelectorEntryMatchesNothing",
    on: `SriovNetworkNodePolicy/${ns}/other`,
    what: "one of two pfNames is on no node",
    inject: plus({ ...policy("other", { nicSelector: { pfNames: ["ens1f0", "uplink1"] } }) }),
  },
  {
    code: "PolicyProblem",
    on: fast,
    what: "a policy names a PF twice",
    inject: set("SriovNetworkNodePolicy", { "spec|nicSelector": { pfNames: ["ens1f0#0-1", "ens1f0#2-3"] } }),
  },
  {
    code: "OperatorConfigMissing",
    on: `SriovOperatorConfig/${ns}/default`,
    what: "there is no operator config",
    inject: without("SriovOperatorConfig"),
  },
  {
    code: "PoolProblem",
    on: `SriovNetworkPoolConfig/${ns}/pool`,
    what: "two pools select the same nodes",
    inject: (cluster) => {
      const pool = cluster.find(({ kind }) => kind === "SriovNetworkPoolConfig");
      return [...cluster, { ...pool, metadata: { name: "second", namespace: ns } }];
    },
  },
  {
    code: "PoolAllowsNoDrain",
    on: `SriovNetworkPoolConfig/${ns}/pool`,
    what: "a pool allows no drain",
    inject: set("SriovNetworkPoolConfig", { "spec|maxUnavailable": 0 }),
  },
  {
    code: "OffloadServiceMissing",
    on: `SriovOperatorConfig/${ns}/default`,
    what: "ovnHardwareOffload is set, and its service is not deployed",
    inject: set("SriovOperatorConfig", {
      "spec|ovnHardwareOffload": [{ nodeSelector: { "example.com/dpu": "" } }],
      "status|conditions": condition("Ready", "OperatorConfigReady"),
    }),
  },
  {
    code: "OffloadHostNotReady",
    on: "Node/worker-1",
    what: "a host of a SmartNIC is not ready",
    inject: set("SriovOperatorConfig", {
      "status|ovnHardwareOffload": [
        {
          ...{ pool: "dpu", nodeCount: 1, readyNodeCount: 0, conditions: [] },
          nodes: [
            {
              ...{ name: "worker-1", missing: "VF 0 has no name", vfsReady: false, machineConfigApplied: true },
              ...{ managementPortPublished: false, labelled: false },
            },
          ],
        },
      ],
    }),
  },
  {
    code: "OffloadPodsWaiting",
    on: `SriovOperatorConfig/${ns}/default`,
    what: "pods wait on hosts of SmartNICs",
    inject: set("SriovOperatorConfig", {
      "status|ovnHardwareOffload": [
        { pool: "dpu", nodeCount: 1, readyNodeCount: 1, conditions: condition("PodsWaiting", "NoInterface") },
      ],
    }),
  },
  {
    code: "Degraded",
    on: `SriovOperatorConfig/${ns}/default`,
    what: "OVN on SmartNICs needs somebody",
    inject: set("SriovOperatorConfig", {
      "status|conditions": condition("HardwareOffload", "Degraded").map((one) => ({ ...one, status: "False" })),
    }),
  },
  {
    code: "NetworkResourceUnknown",
    on: `SriovNetwork/${ns}/net`,
    what: "a network has a misspelt resource",
    inject: set("SriovNetwork", { "spec|resourceName": "nic" }),
  },
  {
    code: "NetworkDefinitionMissing",
    on: `SriovNetwork/${ns}/net`,
    what: "upstream created no NetworkAttachmentDefinition",
    inject: both(
      set("SriovNetwork", upstream),
      set("NetworkAttachmentDefinition", {
        "metadata|annotations|sriovnetwork.openshift.io/owner-ref": "SriovNetwork.x/y/z",
      }),
    ),
  },
  {
    code: "ResourceOnNoNode",
    on: "Pod/apps/new",
    what: "a pod requests a misspelt resource",
    also: ["PodLacksResource"],
    inject: pending({ "spec|containers|0|resources": { requests: { "openshift.io/nisc": "1" } } }),
  },
  {
    code: "ResourceExhausted",
    on: "Pod/apps/new",
    what: "a pod requests more VFs than are free",
    inject: pending({ "spec|containers|0|resources|requests|openshift.io/nics": "4" }),
  },
  {
    code: "DeviceClassMissing",
    on: mine,
    what: "a claim names a misspelt DeviceClass",
    inject: claims({ deviceClassName: "nisc" }, slice()),
  },
  {
    code: "ClaimOnNoNode",
    on: mine,
    what: "no node publishes VFs for claims",
    inject: claims({}),
  },
  {
    code: "ClaimSelectorMatchesNothing",
    on: mine,
    what: "a claim selects a PF that no VF has",
    inject: claims(
      { selectors: [{ cel: { expression: `device.attributes["${driver}"].PFName == "ens9f0"` } }] },
      slice(),
    ),
  },
  {
    code: "ClaimVfsWithheld",
    on: mine,
    what: "all VFs of a node have a taint",
    inject: claims({}, slice({ key: "switchyard.io/unhealthy", value: "no-carrier", effect: "NoSchedule" })),
  },
  {
    code: "ClaimVfsExhausted",
    on: mine,
    what: "another claim has one of two VFs",
    inject: claims({ count: 2 }, slice(), taken),
  },
  {
    code: "PodNetworkMissing",
    on: "Pod/apps/client-0",
    what: "a pod names a network that does not exist",
    inject: set("Pod", { "metadata|annotations|k8s.v1.cni.cncf.io/networks": "nett" }, "client-0"),
  },
  {
    code: "PodNetworkInOtherNamespace",
    on: "Pod/other/client-0",
    what: "a pod names a network of another namespace",
    inject: set("Pod", { "metadata|namespace": "other" }, "client-0"),
  },
  {
    code: "PodNetworksMalformed",
    on: "Pod/apps/client-0",
    what: "the annotation of a pod is malformed",
    inject: set("Pod", { "metadata|annotations|k8s.v1.cni.cncf.io/networks": "[{" }, "client-0"),
  },
  {
    code: "PodLacksResource",
    on: "Pod/apps/client-0",
    what: "the injector was off",
    inject: set("Pod", { "spec|containers": [{ name: "main" }] }, "client-0"),
  },
  {
    code: "FinalizerBlocksDeletion",
    on: `SriovNetwork/${ns}/net`,
    what: "upstream's finalizer has no operator",
    inject: set("SriovNetwork", {
      "metadata|deletionTimestamp": "2026-01-05T10:00:00Z",
      "metadata|finalizers": ["netattdef.finalizers.sriovnetwork.openshift.io"],
    }),
  },
  {
    code: "ConfigMapNearLimit",
    on: `ConfigMap/${ns}/device-plugin-config`,
    what: "upstream's ConfigMap is large",
    inject: set("ConfigMap", { "data|more": "x".repeat(900 * 1024) }),
  },
  {
    code: "WebhookWithoutEndpoints",
    on: "ValidatingWebhookConfiguration/sriov-operator-webhook-config",
    what: "the webhook locks users out",
    inject: set("EndpointSlice", { endpoints: [] }),
  },
  {
    code: "WebhookWithoutCa",
    on: "ValidatingWebhookConfiguration/sriov-operator-webhook-config",
    what: "the webhook has no CA bundle",
    inject: set("ValidatingWebhookConfiguration", { "webhooks|0|clientConfig|caBundle": "" }),
  },
  {
    code: "WebhookCaExpired",
    on: "ValidatingWebhookConfiguration/sriov-operator-webhook-config",
    what: "the CA of the webhook has expired",
    inject: set("ValidatingWebhookConfiguration", { "webhooks|0|clientConfig|caBundle": expiredBundle }),
  },
  {
    code: "WebhookCaExpiresSoon",
    on: "ValidatingWebhookConfiguration/sriov-operator-webhook-config",
    what: "the CA of the webhook expires in ten days",
    inject: set("ValidatingWebhookConfiguration", { "webhooks|0|clientConfig|caBundle": expiringBundle }),
  },
  {
    code: "ServerCertificateExpired",
    on: secretRef,
    what: "the certificate of the webhook's server has expired",
    inject: served(expiredCertificate, serverCa),
  },
  {
    code: "ServerCertificateExpiresSoon",
    on: secretRef,
    what: "that certificate expires in seven days",
    inject: served(expiringCertificate, serverCa),
  },
  {
    code: "ServerCertificateUntrusted",
    on: secretRef,
    what: "that certificate is issued by another CA",
    inject: served(validCertificate, validBundle),
  },
  {
    code: "OperatorNotLeading",
    on: `Lease/${ns}/switchyard-operator`,
    what: "the operator does not renew its lease",
    inject: set("Lease", { "spec|renewTime": "2026-01-05T10:00:00Z" }),
  },
  {
    code: "ComponentNotAvailable",
    on: `DaemonSet/${ns}/sriov-network-config-daemon`,
    what: "a DaemonSet lacks pods",
    inject: set("DaemonSet", { "status|numberAvailable": 1 }),
  },
  {
    code: "CrdVersionsDiffer",
    on: "CustomResourceDefinition/sriovnetworks.sriovnetwork.openshift.io",
    what: "an upgrade of the CRDs was interrupted",
    inject: set(
      "CustomResourceDefinition",
      { "metadata|annotations|switchyard.io/crds-version": "0.2.0" },
      "ovsnetworks.sriovnetwork.openshift.io",
    ),
  },
  {
    code: "ConditionUnknownReason",
    on: state1,
    what: "a condition of a later version",
    inject: set("SriovNetworkNodeState", { "status|conditions": condition("Degraded", "Melted") }, "worker-1"),
  },
  {
    code: "StepHangs",
    on: state1,
    what: "a step hangs in the kernel",
    inject: set("SriovNetworkNodeState", { "status|conditions": condition("Degraded", "StepHangs") }, "worker-1"),
  },
  {
    code: "LockNotFree",
    on: state1,
    what: "another process has the lock",
    inject: set(
      "SriovNetworkNodeState",
      { "status|conditions": condition("WaitingForLock", "LockNotFree") },
      "worker-1",
    ),
  },
  {
    code: "VfsMissing",
    on: state1,
    what: "the device plugin lacks VFs",
    inject: set(
      "SriovNetworkNodeState",
      { "status|conditions": condition("DevicePluginConfigured", "VfsMissing", "False") },
      "worker-1",
    ),
  },
  {
    code: "NodesFailed",
    on: fast,
    what: "a node of a policy failed",
    inject: set("SriovNetworkNodePolicy", { "status|conditions": condition("Degraded", "NodesFailed") }),
  },
  {
    code: "ForeignSecret",
    on: `SriovOperatorConfig/${ns}/default`,
    what: "a certificate is foreign",
    inject: set("SriovOperatorConfig", {
      "status|conditions": condition("WebhookCertificate", "ForeignSecret", "False"),
    }),
  },
];

interface Row {
  readonly code: string;
  readonly on: string;
  readonly severity: string;
}

async function doctor(cluster: readonly Editable[]) {
  const { code, out, err } = await runCli(["doctor", "-f", "-", "-o", "json"], { input: cluster });
  const diagnosis: unknown = JSON.parse(out);
  const findings = listAt(diagnosis, "findings").filter(isJsonObject);
  const rows = findings.map((finding): Row => {
    const object = finding["object"];
    const on = labelOf({
      kind: textAt(object, "kind") ?? "",
      name: textAt(object, "name") ?? "",
      namespace: textAt(object, "namespace"),
    });
    return { code: textAt(finding, "code") ?? "", on, severity: textAt(finding, "severity") ?? "" };
  });
  return { code, err, rows, findings, results: listAt(diagnosis, "results").filter(isJsonObject) };
}

describe("switchyard doctor", () => {
  it("finds nothing in a healthy cluster, and has a result for each object", async () => {
    const { code, err, rows, results } = await doctor(copyOf());
    expect({ code, err, rows }).toEqual({ code: 0, err: "", rows: [] });
    const kinds = new Set(results.map(({ object }) => textAt(object, "kind")));
    expect([...kinds].sort()).toEqual([
      "Node",
      "Pod",
      "SriovNetwork",
      "SriovNetworkNodePolicy",
      "SriovNetworkPoolConfig",
    ]);
    expect(new Set(results.map(({ result }) => result))).toEqual(new Set(["healthy"]));
  });

  it.each(faults)("finds $code: $what", async ({ code, on, inject, also = [], severity }) => {
    const { code: exitCode, rows, findings } = await doctor(inject(copyOf()));
    expect(rows.map((row) => `${row.code} on ${row.on}`)).toContain(`${code} on ${on}`);
    expect(rows.filter((row) => row.code !== code && !also.includes(row.code))).toEqual([]);
    expect(exitCode).toBe(severity === "info" ? 0 : 1);
    for (const finding of findings) {
      expect(finding).toMatchObject({ message: expect.stringMatching(/./), cause: expect.stringMatching(/./) });
      // No placeholder is left.
      expect(finding["next"]).toEqual(expect.stringMatching(/^(?:kubectl|switchyard) [^{]*(?:\{"metadata.*)?$/));
    }
  });

  it("has a case for each code of the catalogue", () => {
    const tested = new Set(faults.map(({ code }) => code));
    // Files never show that something does not exist: rules/operator.test.ts.
    for (const code of ["NotInstalled", "OperatorNotInstalled"]) tested.add(code);
    const untested = Object.keys(findingCatalogue).filter((code) => !tested.has(code));
    expect({ "add a fault to the list faults of this file for": untested }).toEqual({
      "add a fault to the list faults of this file for": [],
    });
  });

  it("says nothing about VFs that a policy selects while the spec of the node state is old", async () => {
    const { findings } = await doctor(set("SriovNetworkNodeState", { spec: {} }, "worker-1")(copyOf()));
    expect(findings.filter(({ code }) => code === "VfsWithoutPolicy")).toEqual([]);
  });

  it("reports pools that overlap once each, whatever the number of nodes", async () => {
    const fault = faults.find(({ code }) => code === "PoolProblem");
    const { findings } = await doctor(fault?.inject(copyOf()) ?? []);
    const overlaps = findings.filter(({ code }) => code === "PoolProblem");
    expect(overlaps.map(({ object }) => textAt(object, "name"))).toEqual(["pool", "second"]);
  });

  it.each(["SriovOperatorConfig", "AfxdpNetworkNodePolicy", "AfxdpOperatorConfig", "SriovNetworkPoolConfig"])(
    "finds a %s outside of the operator's namespace",
    async (kind) => {
      const apiVersion = kind.startsWith("Afxdp") ? "afxdpnetwork.hns.dev/v1alpha1" : "sriovnetwork.openshift.io/v1";
      const selectors = { nodeSelector: {}, nicSelector: { pfNames: ["ens1f0"] }, poolName: "fast" };
      const spec = kind === "AfxdpNetworkNodePolicy" ? selectors : {};
      const object = { apiVersion, kind, metadata: { name: "default", namespace: "apps" }, spec };
      const { findings } = await doctor([...copyOf(), object]);
      expect(findings.map(({ code }) => code)).toContain("PolicyOutsideOperatorNamespace");
    },
  );

  describe("with an operator in another namespace than the default", () => {
    const other = "openshift-sriov-network-operator";
    const moved = () => JSON.parse(JSON.stringify(copyOf()).replaceAll(`"${ns}"`, `"${other}"`)) as Editable[];

    it("examines that namespace, and says so", async () => {
      const { code, err, out } = await runCli(["doctor", "-f", "-"], { input: moved() });
      expect(err).toContain(`the operator runs in namespace ${other}`);
      expect(out).not.toContain("PolicyOutsideOperatorNamespace");
      expect(code).toBe(0);
      const vfs = await runCli(["vfs", "-f", "-", "-o", "json"], { input: moved() });
      expect(vfs.out).toBe((await runCli(["vfs", "-f", "-", "-o", "json"], { input: copyOf() })).out);
    });

    it("names it if the flag names another one, and gives no advice", async () => {
      const { code, err, out } = await runCli(["doctor", "-f", "-", "-n", "wrong"], { input: moved() });
      expect({ code, out }).toEqual({ code: 1, out: "" });
      expect(err).toBe(`switchyard: the operator runs in namespace ${other}, not in wrong: use -n ${other}\n`);
    });

    it("draws no conclusion from objects that contradict each other", async () => {
      const lease = copyOf().filter(({ kind }) => kind === "Lease");
      const { err } = await runCli(["doctor", "-f", "-"], { input: [...moved(), ...lease] });
      expect(err).not.toContain("the operator runs in namespace");
    });
  });

  it("finds a DaemonSet that no node can run", async () => {
    const counts = { "status|desiredNumberScheduled": 0, "status|numberAvailable": 0 };
    const { findings } = await doctor(set("DaemonSet", counts, "sriov-network-config-daemon")(copyOf()));
    expect(findings).toContainEqual(
      expect.objectContaining({ code: "ComponentNotAvailable", message: expect.stringContaining("0 pods are wanted") }),
    );
  });

  it("names the nearest match of a selector, the holders of VFs, and the pods of a drain", async () => {
    const evidenceOf = async (code: string) => {
      const fault = faults.find((each) => each.code === code);
      const { findings } = await doctor(fault?.inject(copyOf()) ?? []);
      return findings
        .filter((finding) => finding["code"] === code)
        .flatMap((finding) => [finding["message"], ...listAt(finding, "evidence")]);
    };
    expect(await evidenceOf("NodeSelectorMatchesNothing")).toContain(
      "nearest match: node worker-1: it has node-role.kubernetes.io/worker=, not node-role.kubernetes.io/wroker=",
    );
    expect(await evidenceOf("NicSelectorMatchesNothing")).toContain(
      "nearest match: PF ens1f0 (0000:3b:00.0): the name is ens1f0, not ens1f1",
    );
    expect(await evidenceOf("ResourceExhausted")).toContain("node worker-1: 1 of 4 used by apps/client-0");
    expect(await evidenceOf("DeviceClassMissing")).toContain('nearest match: "nics"');
    expect(await evidenceOf("ClaimOnNoNode")).toContain(
      "no node gives its VFs to ResourceClaims: a SriovNetworkPoolConfig chooses nodes by spec.allocation: dra",
    );
    expect(await evidenceOf("ClaimSelectorMatchesNothing")).toContain(
      `${driver}/PFName is "ens9f0" on no VF: its values are "ens1f0"`,
    );
    expect(await evidenceOf("ClaimVfsWithheld")).toContain(
      "node worker-1: claims have 0 of 2 VFs; 2 VFs have the taint switchyard.io/unhealthy=no-carrier (no carrier: check the cable and the switch); 0 VFs are free",
    );
    expect(await evidenceOf("ClaimVfsExhausted")).toContain(
      "node worker-1: claims have 1 of 2 VFs (apps/other); 1 VF is free",
    );
    expect(await evidenceOf("ResourceOnNoNode")).toContain('nearest match: "openshift.io/nics"');
    expect(await evidenceOf("DrainTakesLong")).toContain(
      "the node is being drained, and these pods stay: apps/client-0",
    );
  });

  it("finds nothing at claims that can be allocated, that wait for no pod, or of other drivers", async () => {
    const more = [...classes, slice(), taken];
    const codesWith = async (...objects: readonly Editable[]) => {
      const { findings } = await doctor([...copyOf(), ...more, ...objects]);
      return findings.map((finding) => finding["code"]);
    };
    expect(await codesWith(claimant, claim("mine", {}))).toEqual([]);
    expect(await codesWith(claim("mine", { count: 9 }))).toEqual([]);
    expect(await codesWith(claimant, claim("mine", { deviceClassName: "gpu" }))).toEqual([]);
    const unread = { selectors: [{ cel: { expression: "device.attributes.size() > 3" } }] };
    expect(await codesWith(claimant, claim("mine", unread))).toEqual([]);
  });

  it("says of a request with subrequests that none can be allocated, and why not each", async () => {
    const alternatives = (...firstAvailable: readonly object[]): Editable => ({
      ...claim("mine", {}),
      spec: { devices: { requests: [{ name: "nic", firstAvailable }] } },
    });
    const ofSpeed = { cel: { expression: `device.attributes["${driver}"].linkSpeed == 100000` } };
    const fast = { name: "fast", deviceClassName: "nics", selectors: [ofSpeed] };
    const both = { name: "both", deviceClassName: "nics", count: 2 };
    const findings = async (request: Editable) =>
      (await doctor([...copyOf(), ...classes, slice(), taken, claimant, request])).findings;
    const [found] = await findings(alternatives(fast, both));
    expect([found?.["code"], found?.["message"]]).toEqual([
      "ClaimSelectorMatchesNothing",
      'none of the 2 subrequests can be allocated: no VF of class "nics" fulfils all selectors',
    ]);
    expect(listAt(found, "evidence")).toEqual([
      "waiting: apps/claimant",
      'spec.devices.requests[0].firstAvailable[0].selectors: no VF of class "nics" fulfils all selectors',
      `${driver}/linkSpeed is 100000 on no VF: no VF has the attribute`,
      'spec.devices.requests[0].firstAvailable[1].deviceClassName: requests 2 VFs of class "nics", and no node has as many free',
      "node worker-1: claims have 1 of 2 VFs (apps/other); 1 VF is free",
    ]);
    expect(await findings(alternatives(fast, { ...both, count: 1 }))).toEqual([]);
  });

  it("counts VFs in slices for pods with limits: the scheduler makes claims for them", async () => {
    const offersNone = set("Node", { "status|allocatable|openshift.io/nics": undefined });
    const cluster = both(offersNone, without("Pod"), plus(client("new"), ...classes, slice(), taken))(copyOf());
    const codes = async (objects: readonly Editable[]) =>
      (await doctor([...objects])).findings
        .filter(({ code }) => String(code).startsWith("Resource"))
        .map(({ code, evidence }) => [code, evidence]);
    expect(await codes(cluster)).toEqual([]);
    const full = [...cluster, claim("more", {}, "0000-3b-02-1")];
    const evidence = ["node worker-1: claims have 2 of 2 VFs (apps/more, apps/other); 0 VFs are free"];
    expect(await codes(full)).toEqual([["ResourceExhausted", evidence]]);
  });

  it("does not blame budgets of pods that a drain of single VFs leaves alone", async () => {
    const drain = {
      [requested]: "Drain_Required",
      [answered]: "Draining",
      "metadata|annotations|switchyard.io/drain-vfs": "0000:3b:00.0",
      "status|holders": { known: true },
      "status|conditions": [],
    };
    const inject = both(
      set("SriovNetworkNodeState", drain, "worker-1"),
      set("PodDisruptionBudget", { "status|disruptionsAllowed": 0 }),
    );
    const { findings } = await doctor(inject(copyOf()));
    expect(findings.map(({ code }) => code)).not.toContain("DisruptionBudgetBlocksDrain");
  });

  it("accepts a CA bundle that still has an expired certificate beside a valid one", async () => {
    const both = [expiredBundle, validBundle].map((bundle) => Buffer.from(bundle, "base64").toString()).join("");
    const caBundle = Buffer.from(both).toString("base64");
    const cluster = set("ValidatingWebhookConfiguration", { "webhooks|0|clientConfig|caBundle": caBundle })(copyOf());
    expect(await doctor(cluster)).toMatchObject({ code: 0, rows: [] });
  });

  it("accepts the certificate of a server that the CA bundle trusts, also after a renewal, and prints no key", async () => {
    const text = [validBundle, serverCa].map((bundle) => Buffer.from(bundle, "base64").toString()).join("");
    const bundle = Buffer.from(text).toString("base64");
    expect(await doctor(served(validCertificate, bundle)(copyOf()))).toMatchObject({ code: 0, rows: [] });
    // The CA beside the certificate of another one does not help.
    const [certificate, ca] = [validCertificate, validBundle].map((part) => Buffer.from(part, "base64").toString());
    const chain = Buffer.from(`${certificate ?? ""}${ca ?? ""}`).toString("base64");
    const { rows } = await doctor(served(chain, validBundle)(copyOf()));
    expect(rows.map(({ code }) => code)).toEqual(["ServerCertificateUntrusted"]);
    const { out } = await runCli(["doctor", "-f", "-", "-o", "json"], {
      input: served(expiredCertificate, serverCa)(copyOf()),
    });
    expect(out).not.toMatch(/secret key|YSBzZWNyZXQga2V5/);
  });

  it("adds the latest warnings that Kubernetes has recorded about an object, of both event APIs", async () => {
    const about = { kind: "Pod", namespace: "apps", name: "pending" };
    const warning = { kind: "Event", type: "Warning", reason: "FailedScheduling" };
    const waiting = {
      ...client("pending"),
      spec: { containers: [{ name: "main", resources: { requests: { "openshift.io/none": "1" } } }] },
    };
    const { findings } = await doctor([
      ...copyOf(),
      waiting,
      {
        ...warning,
        apiVersion: "v1",
        metadata: { name: "a", namespace: "apps" },
        involvedObject: about,
        count: 4,
        lastTimestamp: "2026-01-05T10:00:00Z",
        message: "Insufficient openshift.io/none",
      },
      {
        ...warning,
        apiVersion: "events.k8s.io/v1",
        metadata: { name: "b", namespace: "apps" },
        regarding: about,
        eventTime: "2026-01-05T10:30:00Z",
        note: "no node",
      },
      {
        ...warning,
        apiVersion: "v1",
        type: "Normal",
        metadata: { name: "c", namespace: "apps" },
        involvedObject: about,
      },
    ]);
    expect(findings.find(({ code }) => code === "ResourceOnNoNode")?.["evidence"]).toEqual(
      expect.arrayContaining([
        "event FailedScheduling (2026-01-05T10:30:00Z): no node",
        "event FailedScheduling (4 times, last 2026-01-05T10:00:00Z): Insufficient openshift.io/none",
      ]),
    );
    expect(findings.flatMap((finding) => listAt(finding, "evidence")).join("\n")).not.toContain("unknown");
  });

  it("prints text with cause and next command", async () => {
    const fault = faults.find(({ code }) => code === "StepHangs");
    const { code, out } = await runCli(["doctor", "-f", "-"], { input: fault?.inject(copyOf()) ?? [] });
    expect(code).toBe(1);
    expect(out).toContain(`error StepHangs  ${state1}: status.conditions\n  because\n`);
    expect(out).toContain(
      "\n  Cause: A configuration step has been running for minutes and hangs in the\n         kernel.",
    );
    expect(out).toContain("  Next:  kubectl -n sriov-network-operator logs config-daemon-worker-1 --tail 100\n");
    expect(out).toMatch(/\nNode +1 +0 +0 +1\n/);
    expect(out).toMatch(/\nDoctor: 1 error, 0 warnings\.\n$/);
  });

  it("does not put hostile names into commands or the terminal", async () => {
    const hostile = { ...policy("x; rm -rf ~\u001b[2J"), metadata: { name: "x; rm\u001b[2J", namespace: "apps" } };
    const { out } = await runCli(["doctor", "-f", "-"], { input: [hostile] });
    expect(out).not.toContain("\u001b");
    expect(out).not.toMatch(/Next: .*rm/);
  });

  it("says of what the input does not contain only that the operator is not known to run", async () => {
    const given = copyOf().filter(
      ({ kind }) =>
        kind === "SriovNetworkNodeState" || kind === "SriovNetworkNodePolicy" || kind === "SriovOperatorConfig",
    );
    expect(await doctor(given)).toMatchObject({ code: 0, rows: [{ code: "OperatorUnknown", severity: "info" }] });
  });

  it.each([
    { argv: ["doctor"], code: 64, says: "no input" },
    { argv: ["doctor", "-f", "-"], code: 1, says: "the input has no objects" },
    { argv: ["doctor", "-f", "/missing/file.yaml"], code: 1, says: "ENOENT" },
  ])("exits with $code for $argv", async ({ argv, code, says }) => {
    expect(await runCli(argv)).toMatchObject({ code, err: expect.stringContaining(says) });
  });
});
