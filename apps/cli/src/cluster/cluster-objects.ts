// SPDX-License-Identifier: Apache-2.0
/**
 * The input as the operator's caches would have it: by kind, with the defaults of CRD and webhook, without what the API
 * server refuses.
 * Usage: `const cluster = collectObjects(manifests, { namespace, diagnostics })`.
 */
import {
  operatorConfigName,
  resourceClaims,
  resourceSlices,
  type Node,
  type SriovNetworkNodePolicy,
  type SriovNetworkNodeState,
  type SriovNetworkPoolConfig,
  type SriovOperatorConfig,
  type ResourceType,
} from "@switchyard/api";
import { supportedNics, unlistedNics, type NicPolicy } from "@switchyard/policy";
import type { Network } from "@switchyard/render";
import { describeFieldProblem, rulesLeftOut } from "../crd/field-problem.ts";
import { judgeByCrd } from "../crd/judge-by-crd.ts";
import type { Diagnostics } from "../diagnostics.ts";
import { labelOf, type Manifest } from "../input/manifest.ts";
import { isJsonObject, type JsonObject } from "../json.ts";
import { fits, isOurs } from "./kinds.ts";
import { toNode } from "./node.ts";
import { readNicRows, type NicRow } from "./nic-rows.ts";
import { policyDefaults } from "./policy-defaults.ts";

export interface ClusterObjects {
  readonly nodes: readonly Node[];
  /** Of the operator's namespace, as pools and states are. */
  readonly policies: readonly SriovNetworkNodePolicy[];
  readonly pools: readonly SriovNetworkPoolConfig[];
  readonly operatorConfig: SriovOperatorConfig | undefined;
  /** By node. */
  readonly states: ReadonlyMap<string, SriovNetworkNodeState>;
  /** Of all namespaces. */
  readonly networks: readonly Network[];
  /** The cluster's additions to the list of supported NICs. */
  readonly nics: readonly NicRow[];
  readonly pods: readonly JsonObject[];
  /** What pods have been allocated (resource.k8s.io/v1). */
  readonly claims: readonly JsonObject[];
  /** What there is to allocate. */
  readonly slices: readonly JsonObject[];
}

/** Which cards policies may take, as the operator of this cluster would say. */
export function nicPolicyOf({ nics, operatorConfig }: Pick<ClusterObjects, "nics" | "operatorConfig">): NicPolicy {
  return { known: [...supportedNics, ...nics], unlisted: unlistedNics(operatorConfig) };
}

export interface CollectOptions {
  /** The operator's. */
  readonly namespace: string;
  /** Told what is left out, and why. */
  readonly diagnostics: Diagnostics;
}

/** Of an object that is given twice the last one counts, as if all were applied in turn. */
export function collectObjects(manifests: readonly Manifest[], options: CollectOptions): ClusterObjects {
  const { namespace, diagnostics } = options;
  const nodes = new Map<string, Node>();
  const nics: NicRow[] = [];
  const pods: JsonObject[] = [];
  const claims: JsonObject[] = [];
  const slices: JsonObject[] = [];
  const ours = new Map<string, unknown>();
  const unknown = new Map<string, number>();
  const admit = policyDefaults(manifests, namespace);

  for (const manifest of manifests) {
    if (isOurs(manifest.kind, manifest.apiVersion)) {
      const placed = inNamespace(manifest, namespace);
      const label = labelOf(placed);
      if (ours.has(label)) diagnostics.note(`${label}: given twice; the one at ${manifest.origin} counts`);
      const old = ours.get(label);
      ours.set(label, accepted(placed, { diagnostics, mutate: (object) => admit(object, old) }));
    } else if (manifest.kind === "Node" && manifest.apiVersion === "v1") {
      const node = toNode(manifest);
      if (node === undefined)
        diagnostics.report(`${labelOf(manifest)}: ${manifest.origin}: it needs a name, and labels are texts`);
      else nodes.set(node.metadata.name, node);
    } else if (isPod(manifest)) {
      pods.push(manifest.object);
    } else if (isOfType(manifest, resourceClaims)) {
      claims.push(manifest.object);
    } else if (isOfType(manifest, resourceSlices)) {
      slices.push(manifest.object);
    } else if (manifest.kind === "ConfigMap" && manifest.name === "supported-nic-ids") {
      const { rows, problems } = readNicRows(manifest);
      nics.push(...rows);
      for (const problem of problems) diagnostics.report(problem);
    } else {
      unknown.set(manifest.kind, (unknown.get(manifest.kind) ?? 0) + 1);
    }
  }
  if (unknown.size > 0) diagnostics.note(describeUnknown(unknown));
  return { ...sortOut(ours.values(), namespace, diagnostics), nodes: [...nodes.values()], nics, pods, claims, slices };
}

export function isPod({ kind, apiVersion }: Manifest): boolean {
  return kind === "Pod" && apiVersion === "v1";
}

function isOfType(manifest: Manifest, { group, version, kind }: ResourceType): boolean {
  return manifest.kind === kind && manifest.apiVersion === `${group}/${version}`;
}

/** As `kubectl apply --namespace` would place it. */
export function inNamespace(manifest: Manifest, namespace: string): Manifest {
  if (manifest.namespace !== undefined && manifest.namespace !== "") return manifest;
  const { metadata } = manifest.object;
  const placed = { ...(isJsonObject(metadata) ? metadata : {}), namespace };
  return { ...manifest, namespace, object: { ...manifest.object, metadata: placed } };
}

interface AcceptOptions extends Pick<CollectOptions, "diagnostics"> {
  readonly mutate: (object: JsonObject) => JsonObject;
}

/** The object with its defaults; undefined where the API server would refuse it. */
function accepted(manifest: Manifest, { diagnostics, mutate }: AcceptOptions): unknown {
  const { kind } = manifest;
  const { object, malformed, problems, unknownFields } = judgeByCrd(manifest.object, { kind, mutate });
  if (malformed !== undefined) diagnostics.report(`${labelOf(manifest)}: metadata: ${malformed}`);
  for (const problem of problems) {
    if (problem !== rulesLeftOut) diagnostics.report(`${labelOf(manifest)}: ${describeFieldProblem(problem)}`);
  }
  for (const field of unknownFields) diagnostics.note(`${labelOf(manifest)}: ${field}: unknown field, ignored`);
  return problems.length === 0 && malformed === undefined ? object : undefined;
}

function describeUnknown(unknown: ReadonlyMap<string, number>): string {
  const kinds = [...unknown].sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  return `ignored: ${kinds.map(([kind, count]) => `${count} ${kind}`).join(", ")}`;
}

function sortOut(
  objects: Iterable<unknown>,
  namespace: string,
  diagnostics: Diagnostics,
): Omit<ClusterObjects, "nodes" | "nics" | "pods" | "claims" | "slices"> {
  const policies: SriovNetworkNodePolicy[] = [];
  const pools: SriovNetworkPoolConfig[] = [];
  const states = new Map<string, SriovNetworkNodeState>();
  const networks: Network[] = [];
  let operatorConfig: SriovOperatorConfig | undefined;

  function isHonoured({
    kind,
    metadata,
  }: SriovNetworkNodePolicy | SriovNetworkPoolConfig | SriovOperatorConfig | SriovNetworkNodeState): boolean {
    if (metadata.namespace === namespace) return true;
    diagnostics.note(`${labelOf({ kind, ...metadata })}: ignored: the operator is in ${namespace}`);
    return false;
  }

  for (const object of objects) {
    if (fits(object, "SriovNetworkNodePolicy")) {
      if (isHonoured(object)) policies.push(object);
    } else if (fits(object, "SriovNetworkPoolConfig")) {
      if (isHonoured(object)) pools.push(object);
    } else if (fits(object, "SriovNetworkNodeState")) {
      if (isHonoured(object)) states.set(object.metadata.name, object);
    } else if (fits(object, "SriovOperatorConfig")) {
      if (isHonoured(object) && object.metadata.name === operatorConfigName) operatorConfig = object;
    } else if (
      fits(object, "SriovNetwork") ||
      fits(object, "SriovIBNetwork") ||
      fits(object, "OVSNetwork") ||
      fits(object, "BridgeNetwork")
    ) {
      networks.push(object);
    }
  }
  return { policies, pools, operatorConfig, states, networks };
}
