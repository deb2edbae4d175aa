// SPDX-License-Identifier: Apache-2.0
/** Components, leases, finalizers and versions: what the operator needs to work. */
import { annotations, apiGroup, conditionTypes, afxdpApiGroup, labels, upstreamFinalizers } from "@switchyard/api";
import { isInNodeSet } from "@switchyard/policy";
import { at, isJsonObject, listAt, type Manifest, stringsAt, textAt } from "../../json.ts";
import { findingOf, refOf, resourceOf, type Finding } from "../finding.ts";
import { timeMs, type Snapshot } from "../snapshot.ts";
import { containerLines, describePod, findOperator, isRunning } from "./operator.ts";

const configMapLimitBytes = 1024 * 1024;
/** A Lease lasts 15 seconds. Without a clock, heartbeats of nodes every five minutes are the latest times in a cluster. */
const leaseLimitMs = { clock: 60_000, evidence: 5 * 60_000 } as const;
const oldestMinor = 30;
const daemonApp = "sriov-network-config-daemon";

export function findComponents(snapshot: Snapshot): readonly Finding[] {
  return [
    ...findOperator(snapshot),
    ...offloadService(snapshot),
    ...offloadHosts(snapshot),
    ...daemonSets(snapshot),
    ...daemonPods(snapshot),
    ...leases(snapshot),
    ...finalizers(snapshot),
    ...configMaps(snapshot),
    ...crdVersions(snapshot),
    ...nodeVersions(snapshot),
  ];
}

/** The service answers each entry with a condition. A config without any condition is a file, or new. */
function offloadService({ cluster }: Snapshot): readonly Finding[] {
  const config = cluster.operatorConfig;
  const conditions = config?.status?.conditions ?? [];
  const count = config?.spec?.ovnHardwareOffload?.length ?? 0;
  if (config === undefined || count === 0 || conditions.length === 0) return [];
  if (conditions.some(({ type }) => type === conditionTypes.hardwareOffload)) return [];
  const { name, namespace } = config.metadata;
  const object = { kind: config.kind, name, ...(namespace !== undefined && { namespace }) };
  const entries = count === 1 ? "1 entry" : `${count} entries`;
  const message = `the service ovn-offload has not reported about ${entries} of spec.ovnHardwareOffload`;
  return [findingOf("OffloadServiceMissing", { object, field: "spec.ovnHardwareOffload", message })];
}

/** What the service reports about each host and each pool of hosts. */
function offloadHosts({ cluster, namespace }: Snapshot): readonly Finding[] {
  const pools = cluster.operatorConfig?.status?.ovnHardwareOffload ?? [];
  return pools.flatMap(({ pool, nodes = [], conditions = [] }): readonly Finding[] => {
    const waiting = conditions.find(({ type, status }) => type === conditionTypes.podsWaiting && status === "True");
    const object = { kind: "SriovOperatorConfig", name: cluster.operatorConfig?.metadata.name ?? "", namespace };
    const field = `status.ovnHardwareOffload[${pool}]`;
    return [
      ...nodes.flatMap(({ name, missing }) => {
        if (missing === undefined) return [];
        const host = { kind: "Node", name };
        return [findingOf("OffloadHostNotReady", { object: host, field, message: missing, values: { namespace } })];
      }),
      ...(waiting ? [findingOf("OffloadPodsWaiting", { object, field, message: waiting.message })] : []),
    ];
  });
}

function daemonSets({ objectsOf, namespace }: Snapshot): readonly Finding[] {
  return objectsOf("DaemonSet").flatMap((set) => {
    const [wanted, available] = ["desiredNumberScheduled", "numberAvailable"].map(
      (key) => at(set.object, "status", key) ?? 0,
    );
    if (set.namespace !== namespace || typeof wanted !== "number" || typeof available !== "number") return [];
    if (available >= wanted && (wanted > 0 || needsNoNode(set))) return [];
    const message =
      wanted === 0
        ? "0 pods are wanted: no node has its labels and only taints that it tolerates"
        : `${available} of ${wanted} pods are available`;
    return [findingOf("ComponentNotAvailable", { object: refOf(set), field: "status.numberAvailable", message })];
  });
}

/** The device plugin of upstream only runs on nodes with VFs; a DaemonSet that nobody has counted yet says nothing. */
function needsNoNode({ object }: Manifest): boolean {
  const selector = at(object, "spec", "template", "spec", "nodeSelector");
  const isCounted = typeof at(object, "status", "desiredNumberScheduled") === "number";
  return !isCounted || Object.hasOwn(isJsonObject(selector) ? selector : {}, labels.devicePlugin);
}

function daemonPods(snapshot: Snapshot): readonly Finding[] {
  const { cluster, rules, namespace, pods } = snapshot;
  if (!snapshot.isKnown("Pod") || cluster.operatorConfig === undefined) return [];
  const daemons = pods.filter((pod) => pod.namespace === namespace && pod.labels["app"] === daemonApp);
  if (daemons.length === 0 && !snapshot.isKnown("DaemonSet")) return []; // only the users' pods were given
  return cluster.nodes
    .filter((node) => isInNodeSet(node, rules))
    .flatMap(({ metadata: { name } }) => {
      const own = daemons.filter((pod) => pod.node === name);
      if (own.some(isRunning)) return [];
      const [first] = own;
      const message =
        first === undefined ? "no config daemon runs on the node" : `the config daemon is ${describePod(first)}`;
      return [
        findingOf("DaemonPodNotRunning", {
          object: { kind: "Node", name },
          message,
          values: { operatorNamespace: namespace },
          evidence: own.flatMap((pod) => [`pod ${pod.namespace}/${pod.name}: ${pod.phase}`, ...containerLines(pod)]),
        }),
      ];
    });
}

/** Both operators use leases; those of nodes and of others are in other namespaces. */
function leases(snapshot: Snapshot): readonly Finding[] {
  return snapshot.objectsOf("Lease").flatMap((lease) => {
    const spec = at(lease.object, "spec");
    const renewedMs = timeMs(textAt(spec, "renewTime"));
    if (lease.namespace !== snapshot.namespace || lease.name !== "switchyard-operator") return [];
    const holder = textAt(spec, "holderIdentity") ?? "";
    const lateMs = snapshot.takenAtMs - (renewedMs ?? snapshot.takenAtMs);
    if (holder !== "" && lateMs < (snapshot.isClock ? leaseLimitMs.clock : leaseLimitMs.evidence)) return [];
    const minutes = Math.round(lateMs / 60_000);
    const message =
      holder === ""
        ? "no replica holds the lease"
        : `not renewed for ${minutes === 1 ? "1 minute" : `${minutes} minutes`}`;
    return [
      findingOf("OperatorNotLeading", {
        object: refOf(lease),
        field: "spec.renewTime",
        message,
        evidence: holder === "" ? [] : [`spec.holderIdentity: ${holder}`],
      }),
    ];
  });
}

/** Only of objects that are being deleted: the Go operator sets finalizers on all of them. */
function finalizers(snapshot: Snapshot): readonly Finding[] {
  const known: readonly string[] = Object.values(upstreamFinalizers);
  const kinds = ["SriovOperatorConfig", "SriovNetworkPoolConfig", "SriovNetwork", "SriovIBNetwork", "OVSNetwork"];
  return kinds
    .flatMap((kind) => snapshot.objectsOf(kind))
    .flatMap((manifest) => {
      const since = textAt(manifest.object["metadata"], "deletionTimestamp");
      const own = listAt(manifest.object, "metadata", "finalizers").filter(
        (each) => typeof each === "string" && known.includes(each),
      );
      if (since === undefined || own.length === 0) return [];
      return [
        findingOf("FinalizerBlocksDeletion", {
          object: refOf(manifest),
          field: "metadata.finalizers",
          values: { resource: resourceOf(manifest.kind) },
          message: `waits since ${since} for the finalizer ${own.join(", ")}`,
        }),
      ];
    });
}

function configMaps({ objectsOf, namespace }: Snapshot): readonly Finding[] {
  return objectsOf("ConfigMap").flatMap((map) => {
    if (map.namespace !== namespace || map.name !== "device-plugin-config") return [];
    const bytes = Object.entries(stringsAt(map.object, "data")).reduce(
      (sum, [key, text]) => sum + key.length + Buffer.byteLength(text),
      0,
    );
    if (bytes < 0.8 * configMapLimitBytes) return [];
    const message = `has ${Math.round(bytes / 1024)} KiB of at most ${configMapLimitBytes / 1024} KiB`;
    return [findingOf("ConfigMapNearLimit", { object: refOf(map), field: "data", message })];
  });
}

function crdVersions({ objectsOf }: Snapshot): readonly Finding[] {
  const versions = objectsOf("CustomResourceDefinition").flatMap((crd) => {
    const group = textAt(crd.object["spec"], "group");
    const version = stringsAt(crd.object, "metadata", "annotations")[annotations.crdsVersion];
    return group !== apiGroup && group !== afxdpApiGroup ? [] : [{ crd, version: version ?? "none" }];
  });
  const groups = Map.groupBy(versions, ({ version }) => version);
  const [first] = versions;
  if (groups.size < 2 || first === undefined) return [];
  const evidence = [...groups].map(
    ([version, rows]) => `${annotations.crdsVersion} ${version}: ${rows.map(({ crd }) => crd.name).join(", ")}`,
  );
  const message = `the CustomResourceDefinitions have ${groups.size} versions: ${[...groups.keys()].join(", ")}`;
  return [findingOf("CrdVersionsDiffer", { object: refOf(first.crd), message, evidence })];
}

function nodeVersions({ nodes }: Snapshot): readonly Finding[] {
  return [...nodes].flatMap(([name, { kubeletVersion = "" }]) => {
    const [, major = "", minor = ""] = /^v(\d+)\.(\d+)\./.exec(kubeletVersion) ?? [];
    if (major !== "1" || Number(minor) >= oldestMinor) return [];
    const message = `the kubelet has version ${kubeletVersion}`;
    return [
      findingOf("KubernetesTooOld", {
        object: { kind: "Node", name },
        field: "status.nodeInfo.kubeletVersion",
        message,
      }),
    ];
  });
}
