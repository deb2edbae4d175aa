// SPDX-License-Identifier: Apache-2.0
/**
 * findClaims says why the scheduler allocates no VF to a ResourceClaim, by the function that the operator calls. Claims that no waiting
 * pod needs are left out: the scheduler allocates them when a pod does.
 */
import { findClaimProblem, publishedVfs, type ClaimSurroundings } from "@switchyard/policy";
import { at, textAt, type JsonObject } from "../../json.ts";
import { findingOf, type Finding, type ObjectRef } from "../finding.ts";
import type { Snapshot } from "../snapshot.ts";
import { nameOfPod } from "./drains.ts";

export function findClaims(snapshot: Snapshot): readonly Finding[] {
  const { cluster } = snapshot;
  const waiting = Map.groupBy(
    snapshot.pods
      .filter(({ node }) => node === undefined)
      .flatMap((pod) => pod.claims.map((claim) => ({ pod, claim }))),
    ({ pod, claim }) => `${pod.namespace}/${claim}`,
  );
  if (waiting.size === 0) return [];
  const surroundings = surroundingsOf(snapshot);
  return cluster.claims.flatMap((claim) => {
    const object = refOfClaim(claim);
    const pods = (waiting.get(`${object.namespace}/${object.name}`) ?? []).map(({ pod }) => pod);
    const problem = pods.length === 0 ? undefined : findClaimProblem(claim, surroundings);
    if (problem === undefined) return [];
    const { code, field, message, evidence, resource = "" } = problem;
    const waits = `waiting: ${pods.slice(0, 5).map(nameOfPod).join(", ")}`;
    const values = { resource, operatorNamespace: snapshot.namespace };
    return [findingOf(code, { object, field, message, evidence: [waits, ...evidence], values })];
  });
}

function surroundingsOf(snapshot: Snapshot): ClaimSurroundings {
  const { cluster, resourcePrefix } = snapshot;
  const classes = snapshot.objectsOf("DeviceClass").map(({ name, object }) => [name, object["spec"]] as const);
  const areSlicesKnown = snapshot.isKnown("ResourceSlice") || snapshot.isKnown("SriovNetworkNodeState");
  return {
    classes: classes.length === 0 && !snapshot.isKnown("DeviceClass") ? undefined : new Map(classes),
    vfs: areSlicesKnown ? publishedVfs(cluster) : undefined,
    resourcePrefix,
    driver: driverEvidence(snapshot),
  };
}

/** Nodes that give VFs to claims, and what is known of the driver. */
function driverEvidence({ states, objectsOf }: Snapshot): readonly string[] {
  const nodes = states.filter(({ spec }) => spec?.allocation === "dra").map(({ metadata }) => metadata.name);
  if (nodes.length === 0) {
    return ["no node gives its VFs to ResourceClaims: a SriovNetworkPoolConfig chooses nodes by spec.allocation: dra"];
  }
  const driver = objectsOf("DaemonSet").find(({ name }) => name === "sriov-dra-driver");
  const available = at(driver?.object, "status", "numberAvailable") ?? 0;
  const wanted = at(driver?.object, "status", "desiredNumberScheduled");
  const runs =
    driver === undefined
      ? objectsOf("DaemonSet").length === 0
        ? []
        : ["the DaemonSet sriov-dra-driver does not exist"]
      : typeof wanted === "number" && typeof available === "number"
        ? [`DaemonSet sriov-dra-driver: ${available} of ${wanted} pods are available`]
        : [];
  return [`nodes that give VFs to ResourceClaims: ${nodes.slice(0, 5).join(", ")}`, ...runs];
}

function refOfClaim({ metadata }: JsonObject): ObjectRef & { readonly namespace: string } {
  const namespace = textAt(metadata, "namespace") ?? "default";
  return { kind: "ResourceClaim", namespace, name: textAt(metadata, "name") ?? "" };
}
