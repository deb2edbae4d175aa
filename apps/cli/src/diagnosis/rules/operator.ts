// SPDX-License-Identifier: Apache-2.0
/** Whether the operator is installed and runs, and which containers of its namespace do not. */
import { afxdpApiGroup, apiGroup } from "@switchyard/api";
import { at, stringsAt, textAt, type Manifest } from "../../json.ts";
import { findingOf, refOf, type Finding } from "../finding.ts";
import type { PodSummary } from "../pod-summary.ts";
import type { Snapshot } from "../snapshot.ts";

const operatorName = "sriov-network-operator";
const daemonApp = "sriov-network-config-daemon";

export function findOperator(snapshot: Snapshot): readonly Finding[] {
  return [...operator(snapshot), ...containers(snapshot)];
}

function operator(snapshot: Snapshot): readonly Finding[] {
  const { namespace, objectsOf, pods } = snapshot;
  if (isWithoutCrds(snapshot)) {
    const message = "the cluster has no CustomResourceDefinition of Switchyard";
    return [findingOf("NotInstalled", { object: { kind: "Namespace", name: namespace }, message })];
  }
  const object = { kind: "Deployment", namespace, name: operatorName };
  const deployment = objectsOf("Deployment").find((one) => one.namespace === namespace && isOfOperator(one));
  const own = pods.filter((pod) => pod.namespace === namespace && pod.labels["name"] === operatorName);
  const evidence = own.flatMap((pod) => [
    `pod ${pod.namespace}/${pod.name}: ${describePod(pod)}`,
    ...containerLines(pod),
  ]);
  if (deployment !== undefined) {
    const available = at(deployment.object, "status", "availableReplicas") ?? 0;
    if (typeof available === "number" && available > 0) return [];
    const replicas = at(deployment.object, "spec", "replicas");
    const wanted = typeof replicas === "number" ? replicas : 1;
    const message = wanted === 0 ? "the Deployment is scaled to 0 replicas" : `0 of ${wanted} pods are available`;
    const known = { object: refOf(deployment), field: "status.availableReplicas" };
    return [findingOf("OperatorNotRunning", { ...known, message, evidence })];
  }
  if (snapshot.wasListed("Deployment")) {
    return [findingOf("OperatorNotInstalled", { object, message: `namespace ${namespace} has no such Deployment` })];
  }
  if (own.some(isRunning)) return [];
  if (own.length > 0) return [findingOf("OperatorNotRunning", { object, message: "none of its pods runs", evidence })];
  // Without Deployment and pods, a Lease shows whether a replica leads (components.ts).
  const hasLease = objectsOf("Lease").some(
    (lease) => lease.namespace === namespace && lease.name === "switchyard-operator",
  );
  if (hasLease) return [];
  const message = "the input does not show whether the operator runs";
  return [findingOf("OperatorUnknown", { object, message })];
}

/** The chart names the Deployment after the release, and its pods have a label that is always the same. */
function isOfOperator({ name, object }: Manifest): boolean {
  return name === operatorName || stringsAt(object, "spec", "template", "metadata", "labels")["name"] === operatorName;
}

/** Only a complete list shows that something is absent. */
function isWithoutCrds({ wasListed, objectsOf }: Snapshot): boolean {
  const groups: readonly unknown[] = [apiGroup, afxdpApiGroup];
  if (!wasListed("CustomResourceDefinition")) return false;
  return !objectsOf("CustomResourceDefinition").some(({ object }) => groups.includes(textAt(object["spec"], "group")));
}

/** Those of config daemons that do not run are reported on their nodes. */
function containers({ namespace, pods }: Snapshot): readonly Finding[] {
  return pods
    .filter((pod) => pod.namespace === namespace)
    .flatMap((pod) => {
      const isReportedOnNode = pod.labels["app"] === daemonApp && !isRunning(pod);
      return pod.stoppedContainers
        .filter(({ isWaiting }) => !(isReportedOnNode && isWaiting))
        .map(({ name, reason, isWaiting, details }) =>
          findingOf(isWaiting ? "ContainerNotRunning" : "ContainerOutOfMemory", {
            object: { kind: "Pod", namespace, name: pod.name },
            field: "status.containerStatuses",
            message: isWaiting
              ? `the container ${name} does not run: ${reason}`
              : `the container ${name} was killed because it ran out of memory`,
            evidence: details === "" ? [] : [details],
          }),
        );
    });
}

/** Whether the pod's containers run. The phase of a pod is Running also while a container crashes again and again. */
export function isRunning({ phase, stoppedContainers }: PodSummary): boolean {
  return phase === "Running" && stoppedContainers.every(({ isWaiting }) => !isWaiting);
}

/** The reason of the first container that does not run, or the phase. */
export function describePod({ phase, stoppedContainers }: PodSummary): string {
  const stopped = stoppedContainers.find(({ isWaiting }) => isWaiting);
  return stopped === undefined ? phase : `in ${stopped.reason}`;
}

/** One line for each container that does not run. */
export function containerLines({ stoppedContainers }: PodSummary): readonly string[] {
  return stoppedContainers.map(({ name, reason, details }) => {
    return `container ${name}: ${reason}${details === "" ? "" : ` (${details})`}`;
  });
}
