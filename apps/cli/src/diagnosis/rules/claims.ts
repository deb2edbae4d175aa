// SPDX-License-Identifier: Apache-2.0
/**
 * findClaims says why the scheduler allocates no VF to a ResourceClaim. The scheduler itself says only "cannot allocate all claims"
 * (Kubernetes 1.36). Claims that no waiting pod needs are left out: the scheduler allocates them when a pod does.
 */
import { draDriverName } from "@switchyard/api";
import { nearestName } from "@switchyard/policy";
import { at, listAt, textAt, type JsonObject } from "../../json.ts";
import { fulfils, readSelector, type Comparison } from "../device-selector.ts";
import { findingOf, type Finding, type ObjectRef } from "../finding.ts";
import type { PodSummary } from "../pod-summary.ts";
import { publishedVfs, resourceAttribute, type PublishedVf } from "../published-vfs.ts";
import type { Snapshot } from "../snapshot.ts";
import { usageOf } from "../vf-usage.ts";
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
  const vfs = publishedVfs(snapshot);
  return cluster.claims.flatMap((claim) => {
    const { namespace, name } = refOfClaim(claim);
    const pods = (waiting.get(`${namespace}/${name}`) ?? []).map(({ pod }) => pod);
    if (pods.length === 0 || at(claim, "status", "allocation") !== undefined) return [];
    const problems = requestsOf(claim).map(
      (request) => request.isAlternative || problemOf(request, { claim, pods, vfs, snapshot }),
    );
    return problems.filter((problem) => typeof problem === "object").slice(0, 1);
  });
}

interface Request {
  /** Path of the request. */
  readonly field: string;
  readonly deviceClass: string;
  readonly count: number;
  readonly selectors: readonly string[];
  /** One of several subrequests: that it cannot be fulfilled says nothing about the claim. */
  readonly isAlternative: boolean;
}

interface Context {
  readonly claim: JsonObject;
  readonly pods: readonly PodSummary[];
  readonly vfs: readonly PublishedVf[];
  readonly snapshot: Snapshot;
}

function problemOf(request: Request, context: Context): Finding | undefined {
  const { claim, pods, vfs, snapshot } = context;
  const object = refOfClaim(claim);
  const waits = `waiting: ${pods.slice(0, 5).map(nameOfPod).join(", ")}`;
  const classField = `${request.field}.deviceClassName`;
  const classes = snapshot.objectsOf("DeviceClass");
  const deviceClass = classes.find(({ name }) => name === request.deviceClass);
  if (deviceClass === undefined) {
    if (!snapshot.isKnown("DeviceClass")) return undefined;
    const like = nearestName(
      request.deviceClass,
      classes.map(({ name }) => name),
    );
    return findingOf("DeviceClassMissing", {
      object,
      field: classField,
      message: `no DeviceClass "${request.deviceClass}" exists`,
      evidence: [waits, ...(like === undefined ? [] : [`nearest match: "${like}"`])],
    });
  }
  const ofClass = expressionsOf(deviceClass.object["spec"]).map(readSelector);
  // Without the name of the driver, it is the class of other devices.
  if (!expressionsOf(deviceClass.object["spec"]).some((text) => text.includes(`"${draDriverName}"`))) return undefined;
  if (!snapshot.isKnown("ResourceSlice") && !snapshot.isKnown("SriovNetworkNodeState")) return undefined;
  const candidates = vfs.filter((vf) => ofClass.every((comparisons) => fulfils(vf, comparisons ?? [])));
  if (candidates.length === 0) {
    return findingOf("ClaimOnNoNode", {
      object,
      field: classField,
      message: `no ResourceSlice has a VF of class "${request.deviceClass}"`,
      evidence: [waits, ...driverEvidence(snapshot)],
      values: { operatorNamespace: snapshot.namespace },
    });
  }
  const resource = resourceOf(candidates, snapshot);
  const selected = request.selectors.map((text) => ({ text, comparisons: readSelector(text) }));
  const matching = candidates.filter((vf) => selected.every(({ comparisons }) => fulfils(vf, comparisons ?? [])));
  if (matching.length === 0) {
    return findingOf("ClaimSelectorMatchesNothing", {
      object,
      field: `${request.field}.selectors`,
      message: `no VF of class "${request.deviceClass}" fulfils all selectors`,
      evidence: [waits, ...selected.flatMap(({ comparisons = [] }) => comparisons.flatMap(mismatch(candidates)))],
      values: { operatorNamespace: snapshot.namespace },
    });
  }
  const usage = usageOf(matching);
  if (usage.some(({ free }) => free >= request.count)) return undefined; // something else holds the pod
  const unread = selected.filter(({ comparisons }) => comparisons === undefined);
  const isTainted = usage.every(({ total, tainted }) => total === tainted);
  return findingOf(isTainted ? "ClaimVfsWithheld" : "ClaimVfsExhausted", {
    object,
    field: classField,
    message: isTainted
      ? `claims cannot have any VF of class "${request.deviceClass}" now`
      : request.count === 1
        ? `requests 1 VF of class "${request.deviceClass}", and no node has one free`
        : `requests ${request.count} VFs of class "${request.deviceClass}", and no node has as many free`,
    evidence: [
      waits,
      ...usage.slice(0, 5).map(({ sentence }) => sentence),
      ...unread.map(({ text }) => `the selector ${JSON.stringify(text)} is not evaluated here`),
    ],
    values: { resource },
  });
}

/** Which values the attribute has instead. */
function mismatch(candidates: readonly PublishedVf[]): (comparison: Comparison) => readonly string[] {
  return ({ attribute, value }) => {
    if (candidates.some((vf) => vf.attributes.get(attribute) === value)) return [];
    const values = [...new Set(candidates.flatMap((vf) => vf.attributes.get(attribute) ?? []))];
    const found = values.slice(0, 5).map((each) => JSON.stringify(each));
    const instead = values.length === 0 ? "no VF has the attribute" : `its values are ${found.join(", ")}`;
    return [`${attribute} is ${JSON.stringify(value)} on no VF: ${instead}`];
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

/** The resource that the first VF belongs to, without prefix, for the next command. */
function resourceOf([vf]: readonly PublishedVf[], { resourcePrefix }: Snapshot): string {
  return String(vf?.attributes.get(resourceAttribute) ?? "").replace(`${resourcePrefix}/`, "");
}

function requestsOf(claim: JsonObject): readonly Request[] {
  return listAt(claim, "spec", "devices", "requests").flatMap((request, index) => {
    const field = `spec.devices.requests[${index}]`;
    const alternatives = listAt(request, "firstAvailable");
    const isAlternative = alternatives.length > 1;
    return [
      ...[{ part: at(request, "exactly"), path: `${field}.exactly` }],
      ...alternatives.map((part, nth) => ({ part, path: `${field}.firstAvailable[${nth}]` })),
    ].flatMap(({ part, path }): readonly Request[] => {
      const deviceClass = textAt(part, "deviceClassName");
      if (deviceClass === undefined) return [];
      const count = at(part, "count");
      return [
        {
          field: path,
          deviceClass,
          count: typeof count === "number" ? count : 1,
          selectors: expressionsOf(part),
          isAlternative,
        },
      ];
    });
  });
}

function expressionsOf(part: unknown): readonly string[] {
  return listAt(part, "selectors").flatMap((selector) => textAt(at(selector, "cel"), "expression") ?? []);
}

function refOfClaim({ metadata }: JsonObject): ObjectRef & { readonly namespace: string } {
  const namespace = textAt(metadata, "namespace") ?? "default";
  return { kind: "ResourceClaim", namespace, name: textAt(metadata, "name") ?? "" };
}
