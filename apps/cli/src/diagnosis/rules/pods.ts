// SPDX-License-Identifier: Apache-2.0
/** Pods that cannot get their VFs or networks, and why. */
import { annotations } from "@switchyard/api";
import {
  nearestName,
  networksAnnotation,
  publishedVfs,
  resourceAttribute,
  usageOf,
  type PodNetwork,
  type VfUsage,
} from "@switchyard/policy";
import { stringsAt } from "../../json.ts";
import { findingOf, type Finding } from "../finding.ts";
import type { PodSummary } from "../pod-summary.ts";
import type { Snapshot } from "../snapshot.ts";
import { nameOfPod } from "./drains.ts";

export function findPods(snapshot: Snapshot): readonly Finding[] {
  const { pods, resourcePrefix } = snapshot;
  const isAnyWaiting = pods.some(({ node }) => node === undefined);
  const published = Map.groupBy(isAnyWaiting ? publishedVfs(snapshot.cluster) : [], ({ attributes }) =>
    attributes.get(resourceAttribute),
  );
  return pods.flatMap((pod): readonly Finding[] => {
    const object = { kind: "Pod", namespace: pod.namespace, name: pod.name };
    const ofNetworks = networkFindings(pod, snapshot);
    if (pod.node !== undefined) return ofNetworks;
    const wanted = [...pod.requests].filter(([name, count]) => name.startsWith(`${resourcePrefix}/`) && count > 0);
    return [
      ...wanted.flatMap(([resource, count]) => {
        // On nodes that give VFs to ResourceClaims, the scheduler makes a claim for what is in the limits.
        const inSlices = usageOf(published.get(resource) ?? []);
        return resourceFinding(pod, { resource, count, inSlices }, snapshot) ?? [];
      }),
      ...ofNetworks.map((finding) => ({ ...finding, object })),
    ];
  });
}

/** Says nothing of clusters whose nodes are not in the input, or lack a status. */
function resourceFinding(
  pod: PodSummary,
  {
    resource,
    count,
    inSlices,
  }: { readonly resource: string; readonly count: number; readonly inSlices: readonly VfUsage[] },
  snapshot: Snapshot,
): Finding | undefined {
  const offers = [...snapshot.nodes].flatMap(([node, { allocatable }]) =>
    allocatable === undefined ? [] : [{ node, allocatable }],
  );
  if (offers.length === 0) return undefined;
  if (inSlices.some(({ free }) => free >= count)) return undefined;
  const object = { kind: "Pod", namespace: pod.namespace, name: pod.name };
  const field = `spec.containers[].resources.requests["${resource}"]`;
  const said = pod.unscheduled === undefined ? [] : [`scheduler: ${pod.unscheduled}`];
  const having = offers.filter(({ allocatable }) => (allocatable.get(resource) ?? 0) > 0);
  if (having.length === 0 && inSlices.length === 0) {
    const names = new Set(offers.flatMap(({ allocatable }) => [...allocatable.keys()]));
    names.delete(resource);
    const like = nearestName(
      resource,
      [...names].filter((name) => name.includes("/")),
    );
    const evidence = [...said, ...(like === undefined ? [] : [`nearest match: "${like}"`])];
    return findingOf("ResourceOnNoNode", { object, field, message: `no node offers "${resource}"`, evidence });
  }
  const usage = having.map(({ node, allocatable }) => {
    const holders = snapshot.pods.filter((other) => other.node === node && (other.requests.get(resource) ?? 0) > 0);
    const used = holders.reduce((sum, other) => sum + (other.requests.get(resource) ?? 0), 0);
    return { node, total: allocatable.get(resource) ?? 0, used, holders };
  });
  if (usage.some(({ total, used }) => total - used >= count)) return undefined; // something else holds it
  const evidence = usage.slice(0, 5).map(({ node, total, used, holders }) => {
    const names = holders.slice(0, 5).map(nameOfPod);
    return `node ${node}: ${used} of ${total} used${names.length === 0 ? "" : ` by ${names.join(", ")}`}`;
  });
  const short = resource.slice(snapshot.resourcePrefix.length + 1);
  return findingOf("ResourceExhausted", {
    object,
    field,
    evidence: [...said, ...evidence, ...inSlices.slice(0, 5).map(({ sentence }) => sentence)],
    values: { resource: short },
    message: `requests ${count} of "${resource}", and no node has as many free`,
  });
}

function networkFindings(pod: PodSummary, snapshot: Snapshot): readonly Finding[] {
  const object = { kind: "Pod", namespace: pod.namespace, name: pod.name };
  const field = `metadata.annotations["${networksAnnotation}"]`;
  if (pod.networks === undefined) {
    return [
      findingOf("PodNetworksMalformed", {
        object,
        field,
        message: "the annotation is neither a list of names nor JSON",
      }),
    ];
  }
  if (!snapshot.isKnown("NetworkAttachmentDefinition")) return [];
  return pod.networks.flatMap((network): readonly Finding[] => {
    const definition = definitionOf(network, snapshot);
    if (definition === undefined) return [missingNetwork(network, { object, field }, snapshot)];
    const resource = stringsAt(definition.object, "metadata", "annotations")[annotations.resourceName] ?? "";
    const isSriov = resource.startsWith(`${snapshot.resourcePrefix}/`);
    if (!isSriov || pod.requests.has(resource) || pod.claims.length > 0) return [];
    const message = `network "${network.namespace}/${network.name}" needs "${resource}", which the pod does not request`;
    return [findingOf("PodLacksResource", { object, field: "spec.containers[].resources.requests", message })];
  });
}

function missingNetwork(
  { namespace, name, isQualified }: PodNetwork,
  at: Pick<Finding, "object"> & { readonly field: string },
  snapshot: Snapshot,
): Finding {
  const definitions = snapshot.objectsOf("NetworkAttachmentDefinition");
  const elsewhere = definitions.find((definition) => definition.name === name);
  if (elsewhere !== undefined) {
    const place = `${elsewhere.namespace ?? ""}/${name}`;
    return findingOf("PodNetworkInOtherNamespace", {
      ...at,
      message: `network "${name}" is not in namespace "${namespace}"`,
      evidence: [
        `NetworkAttachmentDefinition ${place} exists${isQualified ? "" : `; the annotation must say "${place}"`}`,
      ],
    });
  }
  const like = nearestName(
    name,
    definitions.filter((each) => each.namespace === namespace).map((each) => each.name),
  );
  return findingOf("PodNetworkMissing", {
    ...at,
    message: `no NetworkAttachmentDefinition "${namespace}/${name}" exists`,
    evidence: like === undefined ? [] : [`nearest match: "${like}"`],
  });
}

function definitionOf({ namespace, name }: PodNetwork, snapshot: Snapshot) {
  return snapshot
    .objectsOf("NetworkAttachmentDefinition")
    .find((definition) => definition.name === name && definition.namespace === namespace);
}
