// SPDX-License-Identifier: Apache-2.0
/**
 * healthyCluster returns the objects of a cluster without problems: what Switchyard writes is rendered by `switchyard render`,
 * the rest is as the programs of the cluster would have written it.
 */
import { isJsonObject, listAt, type JsonObject } from "../../json.ts";
import { network, node, policy, state } from "../../testing/objects.ts";
import { validBundle } from "./server-certificates.ts";
import { runCli } from "../../testing/run-cli.ts";

/** An object that tests may change. */
export type Editable = Record<string, unknown>;

const namespace = "sriov-network-operator";
const apiVersion = "sriovnetwork.openshift.io/v1";
const time = "2026-01-05T10:00:00Z";
/** All that the objects report was written by then, except the lease. */
const readAt = "2026-01-05T11:00:00Z";
const workers = ["worker-1", "worker-2"];

export async function healthyCluster(): Promise<Editable[]> {
  const given = [
    ...workers.map(nodeWithStatus),
    ...workers.map((name) => state(name, 4)),
    { ...policy("fast"), status: { conditions: healthy("Configured") } },
    { ...network("net", { networkNamespace: "apps", ipam: "{}" }), status: { conditions: healthy("NetworkReady") } },
    {
      apiVersion,
      kind: "SriovNetworkPoolConfig",
      metadata: { name: "pool", namespace },
      spec: { maxUnavailable: 1, nodeSelector: {} },
    },
    { apiVersion, kind: "SriovOperatorConfig", metadata: { name: "default", namespace }, spec: {} },
  ];
  const { out } = await runCli(["render", "-f", "-", "-o", "json"], { input: given });
  const rendered = listAt(JSON.parse(out), "items").filter(isJsonObject);
  const states = rendered
    .filter(({ kind }) => kind === "SriovNetworkNodeState")
    .map(({ metadata, spec }): JsonObject => {
      const name = isJsonObject(metadata) ? String(metadata["name"]) : "";
      const idle = {
        "sriovnetwork.openshift.io/desired-state": "Idle",
        "sriovnetwork.openshift.io/current-state": "Idle",
      };
      const { status } = state(name, 4);
      return {
        apiVersion,
        kind: "SriovNetworkNodeState",
        metadata: { name, namespace, annotations: idle },
        spec,
        status: { ...status, bootID: "boot-1", conditions: healthy("Configured") },
      };
    });
  const objects = [
    ...given.filter(({ kind }) => kind !== "SriovNetworkNodeState"),
    ...states,
    ...rendered.filter(({ kind }) => kind === "NetworkAttachmentDefinition" || kind === "ConfigMap"),
    ...workers.map(daemonPod),
    ...[
      client("client-0", "worker-1"),
      client("client-1", "worker-2"),
      budget(),
      daemonSet(),
      lease(),
      webhook(),
      endpoints(),
    ],
    ...["sriovnetworks", "ovsnetworks"].map(crd),
  ];
  // A copy in JSON: builders share parts.
  const copy: unknown = JSON.parse(JSON.stringify(objects));
  return Array.isArray(copy) ? copy.filter((each): each is Editable => isJsonObject(each)) : [];
}

function healthy(reason: string) {
  const common = { reason, message: "all is well", lastTransitionTime: time, observedGeneration: 1 };
  return [
    { ...common, type: "Ready", status: "True" },
    { ...common, type: "Progressing", status: "False" },
    { ...common, type: "Degraded", status: "False" },
  ];
}

function nodeWithStatus(name: string) {
  const status = {
    allocatable: { cpu: "8", memory: "32Gi", "openshift.io/nics": "4" },
    conditions: [{ type: "Ready", status: "True", lastTransitionTime: time, lastHeartbeatTime: readAt }],
    nodeInfo: { bootID: "boot-1", kubeletVersion: "v1.34.1" },
  };
  return { ...node(name), status };
}

function daemonPod(nodeName: string) {
  const labels = { app: "sriov-network-config-daemon" };
  const metadata = { name: `config-daemon-${nodeName}`, namespace, labels };
  return { apiVersion: "v1", kind: "Pod", metadata, spec: { nodeName, containers: [] }, status: { phase: "Running" } };
}

/** A pod with one VF by the network apps/net. */
export function client(name: string, nodeName?: string) {
  const annotations = { "k8s.v1.cni.cncf.io/networks": "net" };
  const requests = { "openshift.io/nics": "1" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "apps", labels: { app: "client" }, annotations },
    spec: {
      ...(nodeName !== undefined && { nodeName }),
      containers: [{ name: "main", resources: { requests, limits: requests } }],
    },
    status: { phase: nodeName === undefined ? "Pending" : "Running" },
  };
}

function budget() {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "client", namespace: "apps" },
    spec: { minAvailable: 1, selector: { matchLabels: { app: "client" } } },
    status: { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 },
  };
}

function daemonSet() {
  const metadata = { name: "sriov-network-config-daemon", namespace };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata,
    status: { desiredNumberScheduled: 2, numberAvailable: 2 },
  };
}

function lease() {
  const spec = { holderIdentity: "operator-0", renewTime: readAt };
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "switchyard-operator", namespace },
    spec,
  };
}

function webhook() {
  const clientConfig = { service: { name: "operator-webhook-service", namespace }, caBundle: validBundle };
  const webhooks = [{ name: "operator-webhook.sriovnetwork.openshift.io", failurePolicy: "Fail", clientConfig }];
  const metadata = { name: "sriov-operator-webhook-config" };
  return { apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingWebhookConfiguration", metadata, webhooks };
}

function endpoints() {
  const labels = { "kubernetes.io/service-name": "operator-webhook-service" };
  const metadata = { name: "operator-webhook-service-x", namespace, labels };
  const ready = [{ addresses: ["10.0.0.1"], conditions: { ready: true } }];
  return { apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata, endpoints: ready };
}

function crd(plural: string) {
  const metadata = {
    name: `${plural}.sriovnetwork.openshift.io`,
    annotations: { "switchyard.io/crds-version": "0.1.0" },
  };
  const spec = { group: "sriovnetwork.openshift.io" };
  return { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata, spec };
}
