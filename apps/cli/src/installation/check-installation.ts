// SPDX-License-Identifier: Apache-2.0
/**
 * checkInstallation says whether Switchyard can be installed in a cluster: what is missing, what works otherwise than one may expect,
 * and what only the nodes themselves can tell.
 */
import { networkAttachmentDefinitions, type Node } from "@switchyard/api";
import { isInNodeSet, nodeSetLabels } from "@switchyard/policy";
import type { Snapshot } from "../diagnosis/snapshot.ts";
import { at, stringsAt, textAt } from "../json.ts";

export interface InstallationCheck {
  readonly checks: readonly CheckResult[];
}

export interface CheckResult {
  /**
   * "stop": the installation fails, or nothing can work, until it is corrected. "note": to be known. "unknown": the input does
   * not show it.
   */
  readonly result: "ok" | "stop" | "note" | "unknown";
  readonly about: string;
  /** One or two sentences, the second of which says what to do. */
  readonly text: string;
}

const oldestMinor = 30;
const architectures = ["amd64", "arm64"];
const podSecurity = "pod-security.kubernetes.io/enforce";
/** Names of the pods of programs in a cluster that Switchyard depends on or would collide with. */
const multusPod = /^(?:kube-)?multus-/;
const devicePluginPod = /^(?:kube-)?sriov-(?:network-)?device-plugin-/;
/** Operating systems whose /etc cannot be written, by the name that the kubelet reports. */
const readOnlyHosts = /^(?:Talos|Bottlerocket)/;

export function checkInstallation(snapshot: Snapshot): InstallationCheck {
  const checks = [
    version(snapshot.source?.version),
    otherOperator(snapshot),
    podSecurityOf(snapshot),
    multus(snapshot),
    devicePlugins(snapshot),
    nodeSet(snapshot),
    architecture(snapshot),
    controlPlane(snapshot),
    readOnly(snapshot),
    capable(snapshot),
    iommu(snapshot),
  ];
  return { checks: checks.filter((check) => check !== undefined) };
}

function version(gitVersion: string | undefined): CheckResult {
  const about = "Kubernetes";
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(gitVersion ?? "") ?? [];
  if (gitVersion === undefined || major === undefined) {
    return { result: "unknown", about, text: `The version is not known. Switchyard needs 1.${oldestMinor} or later.` };
  }
  const isOld = Number(major) === 1 && Number(minor) < oldestMinor;
  if (!isOld) return { result: "ok", about, text: `The version is ${gitVersion}.` };
  const text = `The version is ${gitVersion}, and Helm refuses the chart before 1.${oldestMinor}. Upgrade Kubernetes first.`;
  return { result: "stop", about, text };
}

function otherOperator({ namespace, objectsOf }: Snapshot): CheckResult | undefined {
  const about = "Operator";
  const operators = objectsOf("Deployment").filter((deployment) => {
    return stringsAt(deployment.object, "spec", "template", "metadata", "labels")["name"] === "sriov-network-operator";
  });
  const [first] = operators;
  if (first === undefined) {
    const text = `Namespace ${namespace} has no operator yet.`;
    return objectsOf("Node").length === 0 ? undefined : { result: "ok", about, text };
  }
  const labels = stringsAt(first.object, "metadata", "labels");
  // The chart's value nameOverride changes the name. The Go operator's chart sets no component.
  const isOurs =
    labels["app.kubernetes.io/name"] === "switchyard" || labels["app.kubernetes.io/component"] === "operator";
  const text = isOurs
    ? `Switchyard is installed in namespace ${namespace}. switchyard status says what has become of it.`
    : `The Go operator is installed in namespace ${namespace}. switchyard migrate check says how to take it over.`;
  return { result: isOurs ? "note" : "stop", about, text };
}

/** The config daemon and the CNI installers are privileged pods. */
function podSecurityOf({ namespace, objectsOf, isKnown }: Snapshot): CheckResult {
  const about = "Pod Security";
  const found = objectsOf("Namespace").find(({ name }) => name === namespace);
  const command = `kubectl label namespace ${namespace} --overwrite ${podSecurity}=privileged`;
  if (found === undefined) {
    if (!isKnown("Namespace")) {
      const text = `The labels of namespace ${namespace} are not known. The pods on the nodes are privileged.`;
      return { result: "unknown", about, text };
    }
    const text =
      `Namespace ${namespace} does not exist yet. If the cluster enforces Pod Security Standards in new namespaces, ` +
      `run after the installation: ${command}`;
    return { result: "note", about, text };
  }
  const level = stringsAt(found.object, "metadata", "labels")[podSecurity];
  if (level === undefined || level === "privileged") {
    const text = `Namespace ${namespace} ${level === undefined ? "has no label that forbids" : "allows"} privileged pods.`;
    return { result: "ok", about, text };
  }
  const text = `Namespace ${namespace} enforces "${level}", and the pods on the nodes are privileged. Allow them: ${command}`;
  return { result: "stop", about, text };
}

function multus({ pods, objectsOf, wasListed, isKnown }: Snapshot): CheckResult {
  const about = "Multus";
  const { group, plural, kind } = networkAttachmentDefinitions;
  const advice =
    "Pods get a second interface by Multus: install it, from 4.0 on (https://github.com/k8snetworkplumbingwg/multus-cni).";
  const isServed =
    isKnown(kind) || objectsOf("CustomResourceDefinition").some(({ name }) => name === `${plural}.${group}`);
  if (!isServed) {
    return wasListed("CustomResourceDefinition")
      ? { result: "note", about, text: `The kind ${kind} does not exist, and the chart creates it. ${advice}` }
      : { result: "unknown", about, text: `It is not known whether the cluster has Multus. ${advice}` };
  }
  const running = pods.filter(({ name, phase }) => multusPod.test(name) && phase === "Running").length;
  if (running === 0 && wasListed("Pod")) {
    const text = `The kind ${kind} exists, but no pod whose name begins with multus or kube-multus runs. ${advice}`;
    return { result: "note", about, text };
  }
  const count = running === 1 ? "1 pod of Multus runs" : `${running} pods of Multus run`;
  return { result: "ok", about, text: `The kind ${kind} exists${running === 0 ? "" : `, and ${count}`}.` };
}

/** A device plugin that somebody has installed by hand offers the same VFs. */
function devicePlugins({ pods, namespace }: Snapshot): CheckResult | undefined {
  const foreign = pods.filter((pod) => devicePluginPod.test(pod.name) && pod.namespace !== namespace);
  const [first] = foreign;
  if (first === undefined) return undefined;
  const text =
    `Pod ${first.namespace}/${first.name} is an SR-IOV device plugin outside of namespace ${namespace}. ` +
    "Two plugins that offer the same VF give it to two pods: remove it, or exclude its VFs from policies.";
  return { result: "note", about: "Device plugin", text };
}

function nodeSet({ cluster, objectsOf }: Snapshot): CheckResult {
  const about = "Nodes";
  if (objectsOf("Node").length === 0) {
    return { result: "unknown", about, text: "No Node can be read." };
  }
  const labels = nodeSetLabels(cluster.operatorConfig);
  const list = Object.entries(labels)
    .map(([key, value]) => (value === "" ? key : `${key}=${value}`))
    .join(", ");
  const selected = cluster.nodes.filter((node) => isInNodeSet(node, { nodeSet: labels }));
  const all = `${selected.length} of ${cluster.nodes.length} nodes`;
  if (selected.length > 0) {
    return {
      result: "ok",
      about,
      text: `${all} ${selected.length === 1 ? "has" : "have"} the labels ${list}, and would be configured.`,
    };
  }
  const text =
    `No node has the labels ${list}, so no node would be configured. Label the workers ` +
    "(kubectl label node NAME node-role.kubernetes.io/worker=), or set spec.configDaemonNodeSelector of the SriovOperatorConfig.";
  return { result: "stop", about, text };
}

function architecture({ cluster }: Snapshot): CheckResult | undefined {
  const others = cluster.nodes.flatMap((node) => {
    const value = labelOf(node, "kubernetes.io/arch");
    return value === undefined || architectures.includes(value) ? [] : [`${node.metadata.name} (${value})`];
  });
  if (others.length === 0) return undefined;
  const text = `The images are for amd64 and arm64, so these nodes cannot be configured: ${listOf(others)}.`;
  return { result: "note", about: "Architecture", text };
}

function controlPlane({ cluster }: Snapshot): CheckResult | undefined {
  if (cluster.nodes.length === 0) return undefined;
  const isVisible = cluster.nodes.some((node) => labelOf(node, "node-role.kubernetes.io/control-plane") !== undefined);
  if (isVisible) return undefined;
  const text =
    "No node of the control plane is visible, as in managed clusters. Operator, webhook and injector run on workers; " +
    "the chart's values place them.";
  return { result: "note", about: "Control plane", text };
}

function readOnly({ objectsOf }: Snapshot): CheckResult | undefined {
  const hosts = objectsOf("Node").flatMap(({ name, object }) => {
    const image = textAt(at(object, "status", "nodeInfo"), "osImage") ?? "";
    return readOnlyHosts.test(image) ? [`${name} (${image})`] : [];
  });
  if (hosts.length === 0) return undefined;
  const text =
    `These nodes have a read-only /etc: ${listOf(hosts)}. ` +
    "Set STATE_DIRECTORY in spec.configDaemonEnvVars of the SriovOperatorConfig.";
  return { result: "note", about: "Hosts", text };
}

/** Labels of Node Feature Discovery, if it runs. */
function capable({ cluster }: Snapshot): CheckResult {
  const about = "SR-IOV";
  const label = "feature.node.kubernetes.io/network-sriov.capable";
  const count = cluster.nodes.filter((node) => labelOf(node, label) === "true").length;
  if (count > 0) {
    const text = `${count === 1 ? "1 node has" : `${count} nodes have`} the label ${label}.`;
    return { result: "ok", about, text };
  }
  const text =
    "No label says which nodes have cards with SR-IOV. After the installation, switchyard nics lists all cards.";
  return { result: "unknown", about, text };
}

function iommu({ cluster }: Snapshot): CheckResult {
  const about = "IOMMU";
  const enabled = cluster.nodes.filter((node) => labelOf(node, "feature.node.kubernetes.io/iommu.enabled") === "true");
  if (enabled.length > 0) {
    const text = `It is on, on ${enabled.length === 1 ? "1 node" : `${enabled.length} nodes`}.`;
    return { result: "ok", about, text };
  }
  const text =
    "Only policies with deviceType vfio-pci need it. It is on if /sys/kernel/iommu_groups of the node is not empty; " +
    "otherwise Switchyard adds kernel arguments and reboots the node, drained.";
  return { result: "unknown", about, text };
}

function labelOf({ metadata }: Node, key: string): string | undefined {
  return metadata.labels?.[key];
}

function listOf(names: readonly string[]): string {
  return names.length <= 4 ? names.join(", ") : `${names.slice(0, 4).join(", ")} and ${names.length - 4} more`;
}
