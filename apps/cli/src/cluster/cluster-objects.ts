// SPDX-License-Identifier: Apache-2.0
/**
 * collectObjects sorts the input by kind, as the operator's caches would have it: with the defaults of the CRDs and the
 * webhook, and without objects that the API server refuses.
 */
import {
  afxdpApiGroup,
  afxdpApiVersion,
  operatorConfigName,
  resourceClaims,
  resourceSlices,
  type AfxdpNetworkNodePolicy,
  type AfxdpNetworkNodeState,
  type AfxdpOperatorConfig,
  type Node,
  type SriovNetworkNodePolicy,
  type SriovNetworkNodeState,
  type SriovNetworkPoolConfig,
  type SriovOperatorConfig,
  type ResourceType,
} from "@switchyard/api";
import { supportedNics, unlistedNics, type NicPolicy, type SupportedNic } from "@switchyard/policy";
import type { Network } from "@switchyard/render";
import { describeFieldProblem, rulesLeftOut } from "../crd/field-problem.ts";
import { checkAgainstCrd } from "../crd/check-against-crd.ts";
import type { Diagnostics } from "../terminal.ts";
import { isJsonObject, labelOf, type JsonObject, type Manifest } from "../json.ts";
import { createNetworkObjects, type NetworkObjects } from "./network-objects.ts";
import { isOfKind, isSwitchyardKind } from "./kinds.ts";
import { readNicRows, toNode } from "./read-objects.ts";
import { policyDefaults, type PolicyDefaults } from "./policy-defaults.ts";

export interface ClusterObjects {
  readonly nodes: readonly Node[];
  /** Policies, pools and states are those in the operator's namespace. */
  readonly policies: readonly SriovNetworkNodePolicy[];
  readonly pools: readonly SriovNetworkPoolConfig[];
  readonly operatorConfig: SriovOperatorConfig | undefined;
  /** Keyed by node name. */
  readonly states: ReadonlyMap<string, SriovNetworkNodeState>;
  /** Networks of all namespaces. */
  readonly networks: readonly Network[];
  /** NICs that the cluster adds to the list of supported NICs. */
  readonly nics: readonly SupportedNic[];
  readonly pods: readonly JsonObject[];
  /** ResourceClaims (resource.k8s.io/v1). */
  readonly claims: readonly JsonObject[];
  /** ResourceSlices (resource.k8s.io/v1). */
  readonly slices: readonly JsonObject[];
  /** What OVN on SmartNICs depends on. */
  readonly network: NetworkObjects;
  /** The objects for AF_XDP in the operator's namespace. */
  readonly afxdp: AfxdpObjects;
}

export interface AfxdpObjects {
  readonly policies: readonly AfxdpNetworkNodePolicy[];
  readonly operatorConfig: AfxdpOperatorConfig | undefined;
  /** Keyed by node name. */
  readonly states: ReadonlyMap<string, AfxdpNetworkNodeState>;
}

/** The NICs that policies may configure, as the operator of this cluster determines them. */
export function nicPolicyOf({ nics, operatorConfig }: Pick<ClusterObjects, "nics" | "operatorConfig">): NicPolicy {
  return { known: [...supportedNics, ...nics], unlisted: unlistedNics(operatorConfig) };
}

export interface CollectOptions {
  /** The namespace of the operator. */
  readonly namespace: string;
  /** Gets a line for each object that is left out. */
  readonly diagnostics: Diagnostics;
  /** The stored object that an object of the input updates, by labelOf(). Objects of the input are new unless given. */
  readonly oldOf?: (label: string) => JsonObject | undefined;
  /** Whether kinds without a meaning here get a note. Default: true. */
  readonly isIgnoredNoted?: boolean;
  /** Called for each object that the API server would refuse, and that is therefore left out. */
  readonly onRefused?: ((manifest: Manifest, problem: string) => void) | undefined;
}

/** If an object is given more than once, the last one counts, as if all were applied in turn. */
export function collectObjects(manifests: readonly Manifest[], options: CollectOptions): ClusterObjects {
  const { namespace, diagnostics, oldOf = () => undefined, isIgnoredNoted = true, onRefused } = options;
  const nodes = new Map<string, Node>();
  const nics: SupportedNic[] = [];
  const pods: JsonObject[] = [];
  const claims: JsonObject[] = [];
  const slices: JsonObject[] = [];
  const network = createNetworkObjects();
  const switchyardObjects = new Map<string, JsonObject | undefined>();
  const unknown = new Map<string, number>();
  const defaults = policyDefaults(manifests, namespace);

  for (const manifest of manifests) {
    if (isSwitchyardKind(manifest.kind, manifest.apiVersion)) {
      const placed = inNamespace(manifest, namespace);
      const label = labelOf(placed);
      if (switchyardObjects.has(label))
        diagnostics.note(`${label}: given more than once; using the one at ${manifest.origin}`);
      const old = switchyardObjects.get(label) ?? oldOf(label);
      switchyardObjects.set(label, accepted(placed, { diagnostics, old, defaults, onRefused }));
    } else if (manifest.kind === "Node" && manifest.apiVersion === "v1") {
      const node = toNode(manifest);
      if (node === undefined)
        diagnostics.report(
          `${labelOf(manifest)}: ${manifest.origin}: metadata.name is required, and the values of metadata.labels must be strings`,
        );
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
    } else if (hasOtherAfxdpVersion(manifest)) {
      diagnostics.report(
        `${labelOf(manifest)}: ${manifest.origin}: apiVersion: "${manifest.apiVersion}" does not exist: use "${afxdpApiVersion}"`,
      );
    } else if (!network.add(manifest)) {
      unknown.set(manifest.kind, (unknown.get(manifest.kind) ?? 0) + 1);
    }
  }
  if (isIgnoredNoted && unknown.size > 0) diagnostics.note(describeUnknown(unknown));
  return {
    ...sortByKind(switchyardObjects.values(), namespace, diagnostics),
    nodes: [...nodes.values()],
    nics,
    pods,
    claims,
    slices,
    network: network.objects(),
  };
}

/** The examples of the proposal have a misspelt version. */
function hasOtherAfxdpVersion({ apiVersion }: Manifest): boolean {
  return apiVersion.startsWith(`${afxdpApiGroup}/`) && apiVersion !== afxdpApiVersion;
}

export function isPod({ kind, apiVersion }: Manifest): boolean {
  return kind === "Pod" && apiVersion === "v1";
}

function isOfType(manifest: Manifest, { group, version, kind }: ResourceType): boolean {
  return manifest.kind === kind && manifest.apiVersion === `${group}/${version}`;
}

/** The manifest with a namespace, as `kubectl apply --namespace` would set it. */
export function inNamespace(manifest: Manifest, namespace: string): Manifest {
  if (manifest.namespace !== undefined && manifest.namespace !== "") return manifest;
  const { metadata } = manifest.object;
  const placed = { ...(isJsonObject(metadata) ? metadata : {}), namespace };
  return { ...manifest, namespace, object: { ...manifest.object, metadata: placed } };
}

interface AcceptOptions extends Pick<CollectOptions, "diagnostics" | "onRefused"> {
  readonly old: JsonObject | undefined;
  readonly defaults: PolicyDefaults;
}

/** The object with its defaults; undefined if the API server would refuse it. */
function accepted(
  manifest: Manifest,
  { diagnostics, old, defaults, onRefused }: AcceptOptions,
): JsonObject | undefined {
  const { kind } = manifest;
  const { object, malformed, problems, unknownFields } = checkAgainstCrd(manifest.object, {
    kind,
    old,
    mutate: (coerced) => defaults(coerced, old),
  });
  const shown = problems.filter((problem) => problem !== rulesLeftOut).map(describeFieldProblem);
  const texts = malformed === undefined ? shown : [`metadata: ${malformed}`, ...shown];
  for (const text of texts) diagnostics.report(`${labelOf(manifest)}: ${text}`);
  if (texts.length > 0) onRefused?.(manifest, texts.join("; "));
  for (const field of unknownFields) diagnostics.note(`${labelOf(manifest)}: ${field}: unknown field is ignored`);
  return problems.length === 0 && malformed === undefined ? object : undefined;
}

function describeUnknown(unknown: ReadonlyMap<string, number>): string {
  const kinds = [...unknown].sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  return `ignored: ${kinds.map(([kind, count]) => `${count} ${kind}`).join(", ")}`;
}

function sortByKind(
  objects: Iterable<unknown>,
  namespace: string,
  diagnostics: Diagnostics,
): Omit<ClusterObjects, "nodes" | "nics" | "pods" | "claims" | "slices" | "network"> {
  const policies: SriovNetworkNodePolicy[] = [];
  const pools: SriovNetworkPoolConfig[] = [];
  const states = new Map<string, SriovNetworkNodeState>();
  const networks: Network[] = [];
  const afxdpPolicies: AfxdpNetworkNodePolicy[] = [];
  const afxdpStates = new Map<string, AfxdpNetworkNodeState>();
  let afxdpConfig: AfxdpOperatorConfig | undefined;
  let operatorConfig: SriovOperatorConfig | undefined;

  function isInEffect({ kind, metadata }: Pick<SriovNetworkNodePolicy, "metadata"> & { kind: string }): boolean {
    if (metadata.namespace === namespace) return true;
    diagnostics.note(`${labelOf({ kind, ...metadata })}: ignored: not in the operator's namespace ${namespace}`);
    return false;
  }

  for (const object of objects) {
    if (isOfKind(object, "SriovNetworkNodePolicy")) {
      if (isInEffect(object)) policies.push(object);
    } else if (isOfKind(object, "SriovNetworkPoolConfig")) {
      if (isInEffect(object)) pools.push(object);
    } else if (isOfKind(object, "SriovNetworkNodeState")) {
      if (isInEffect(object)) states.set(object.metadata.name, object);
    } else if (isOfKind(object, "SriovOperatorConfig")) {
      if (isInEffect(object) && object.metadata.name === operatorConfigName) operatorConfig = object;
    } else if (isOfKind(object, "AfxdpNetworkNodePolicy")) {
      if (isInEffect(object)) afxdpPolicies.push(object);
    } else if (isOfKind(object, "AfxdpNetworkNodeState")) {
      if (isInEffect(object)) afxdpStates.set(object.metadata.name, object);
    } else if (isOfKind(object, "AfxdpOperatorConfig")) {
      if (isInEffect(object) && object.metadata.name === operatorConfigName) afxdpConfig = object;
    } else if (
      isOfKind(object, "SriovNetwork") ||
      isOfKind(object, "SriovIBNetwork") ||
      isOfKind(object, "OVSNetwork") ||
      isOfKind(object, "BridgeNetwork") ||
      isOfKind(object, "AfxdpNetwork")
    ) {
      networks.push(object);
    }
  }
  const afxdp = { policies: afxdpPolicies, operatorConfig: afxdpConfig, states: afxdpStates };
  return { policies, pools, operatorConfig, states, networks, afxdp };
}
