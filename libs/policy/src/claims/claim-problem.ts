// SPDX-License-Identifier: Apache-2.0
/**
 * findClaimProblem says why the scheduler allocates no VF to a ResourceClaim. The scheduler itself says only "cannot allocate all claims"
 * (Kubernetes 1.36). It is a pure function of objects that are not validated.
 */
import { draDriverName } from "@switchyard/api";
import { nearestName } from "../nics/nearest-name.ts";
import { at, listAt, textAt } from "../pods/json-parts.ts";
import { fulfils, readSelector, type Comparison } from "./device-selector.ts";
import { resourceAttribute, type PublishedVf } from "./published-vfs.ts";
import { usageOf } from "./vf-usage.ts";

/** What is known of the cluster. */
export interface ClaimSurroundings {
  /** Specs of the DeviceClasses by name; undefined if they are not known. */
  readonly classes: ReadonlyMap<string, unknown> | undefined;
  /** What is in ResourceSlices; undefined if it is not known. */
  readonly vfs: readonly PublishedVf[] | undefined;
  /** Prefix of resource names, without the slash. */
  readonly resourcePrefix: string;
  /** Whether sentences may name the claims of other namespaces; true by default. */
  readonly namesClaims?: boolean;
  /** Sentences about the nodes that give VFs to claims, and the driver there. */
  readonly driver: readonly string[];
}

export interface ClaimProblem {
  readonly code:
    "DeviceClassMissing" | "ClaimOnNoNode" | "ClaimSelectorMatchesNothing" | "ClaimVfsWithheld" | "ClaimVfsExhausted";
  /** Path in the claim. */
  readonly field: string;
  readonly message: string;
  /** Sentences. */
  readonly evidence: readonly string[];
  /** The resource of the class without prefix, if its VFs are known. */
  readonly resource?: string;
}

/** A request, or one subrequest of several. */
interface Request {
  /** Path of the request. */
  readonly field: string;
  readonly deviceClass: string;
  readonly count: number;
  readonly selectors: readonly string[];
}

/** Returns undefined if the claim is allocated, can be allocated as far as is known, or asks for devices of other drivers. */
export function findClaimProblem(claim: unknown, surroundings: ClaimSurroundings): ClaimProblem | undefined {
  if (at(at(claim, "status"), "allocation") !== undefined) return undefined;
  for (const alternatives of requestsOf(claim)) {
    const found = alternatives.map((request) => problemOf(request, surroundings));
    const problem = ofAll(
      found.filter((each) => each !== undefined),
      alternatives.length,
    );
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The problem of a request with `firstAvailable` is that each of its subrequests has one. */
function ofAll(problems: readonly ClaimProblem[], count: number): ClaimProblem | undefined {
  const [first] = problems;
  if (first === undefined || problems.length < count) return undefined;
  if (count === 1) return first;
  const evidence = problems.flatMap(({ field, message, evidence: own }) => [`${field}: ${message}`, ...own]);
  return { ...first, message: `none of the ${count} subrequests can be allocated: ${first.message}`, evidence };
}

function problemOf(
  request: Request,
  { classes, vfs, resourcePrefix, driver, namesClaims = true }: ClaimSurroundings,
): ClaimProblem | undefined {
  const classField = `${request.field}.deviceClassName`;
  if (classes === undefined) return undefined;
  const deviceClass = classes.get(request.deviceClass);
  if (deviceClass === undefined) {
    const like = nearestName(request.deviceClass, [...classes.keys()]);
    return {
      code: "DeviceClassMissing",
      field: classField,
      message: `no DeviceClass "${request.deviceClass}" exists`,
      evidence: like === undefined ? [] : [`nearest match: "${like}"`],
    };
  }
  const ofClass = expressionsOf(deviceClass).map(readSelector);
  // Without the name of the driver, it is the class of other devices.
  if (!expressionsOf(deviceClass).some((text) => text.includes(`"${draDriverName}"`))) return undefined;
  if (vfs === undefined) return undefined;
  const candidates = vfs.filter((vf) => ofClass.every((comparisons) => fulfils(vf, comparisons ?? [])));
  if (candidates.length === 0) {
    return {
      code: "ClaimOnNoNode",
      field: classField,
      message: `no ResourceSlice has a VF of class "${request.deviceClass}"`,
      evidence: driver,
    };
  }
  const resource = resourceOf(candidates, resourcePrefix);
  const selected = request.selectors.map((text) => ({ text, comparisons: readSelector(text) }));
  const matching = candidates.filter((vf) => selected.every(({ comparisons }) => fulfils(vf, comparisons ?? [])));
  if (matching.length === 0) {
    return {
      code: "ClaimSelectorMatchesNothing",
      field: `${request.field}.selectors`,
      message: `no VF of class "${request.deviceClass}" fulfils all selectors`,
      evidence: selected.flatMap(({ comparisons = [] }) => comparisons.flatMap(mismatch(candidates))),
      resource,
    };
  }
  const usage = usageOf(matching, { namesClaims });
  if (usage.some(({ free }) => free >= request.count)) return undefined; // something else holds the pod
  const unread = selected.filter(({ comparisons }) => comparisons === undefined);
  const isTainted = usage.every(({ total, tainted }) => total === tainted);
  return {
    code: isTainted ? "ClaimVfsWithheld" : "ClaimVfsExhausted",
    field: classField,
    message: isTainted
      ? `claims cannot have any VF of class "${request.deviceClass}" now`
      : request.count === 1
        ? `requests 1 VF of class "${request.deviceClass}", and no node has one free`
        : `requests ${request.count} VFs of class "${request.deviceClass}", and no node has as many free`,
    evidence: [
      ...usage.slice(0, 5).map(({ sentence }) => sentence),
      ...unread.map(({ text }) => `the selector ${JSON.stringify(text)} is not evaluated here`),
    ],
    resource,
  };
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

/** The resource that the first VF belongs to, without prefix. */
function resourceOf([vf]: readonly PublishedVf[], prefix: string): string {
  return String(vf?.attributes.get(resourceAttribute) ?? "").replace(`${prefix}/`, "");
}

/** The subrequests of each request; a request with `exactly` has one. */
function requestsOf(claim: unknown): readonly (readonly Request[])[] {
  return listAt(at(at(claim, "spec"), "devices"), "requests").map((request, index) => {
    const field = `spec.devices.requests[${index}]`;
    const alternatives = listAt(request, "firstAvailable");
    return [
      ...[{ part: at(request, "exactly"), path: `${field}.exactly` }],
      ...alternatives.map((part, nth) => ({ part, path: `${field}.firstAvailable[${nth}]` })),
    ].flatMap(({ part, path }): readonly Request[] => {
      const deviceClass = textAt(part, "deviceClassName");
      if (deviceClass === undefined) return [];
      const count = at(part, "count");
      const selectors = expressionsOf(part);
      return [{ field: path, deviceClass, count: typeof count === "number" ? count : 1, selectors }];
    });
  });
}

function expressionsOf(part: unknown): readonly string[] {
  return listAt(part, "selectors").flatMap((selector) => textAt(at(selector, "cel"), "expression") ?? []);
}
