// SPDX-License-Identifier: Apache-2.0
/**
 * listSnapshot lists the kinds that a diagnosis uses. It needs no right in particular: kinds that are not served or that the user
 * may not list are left out.
 */
import {
  configMaps,
  customResourceDefinitions,
  customResources,
  deviceClasses,
  namespaces,
  networkAttachmentDefinitions,
  nodes,
  pods,
  resourceClaims,
  resourceSlices,
  type ResourceType,
} from "@switchyard/api";
import { isKubeError, listPages, type Transport } from "@switchyard/kube/lists";
import { toManifest, type Manifest } from "../json.ts";

/** What can be listed from. */
export type Lister = Pick<Transport, "request">;

export interface ListOptions {
  /** The namespace of the operator. */
  readonly namespace: string;
  /** Where the objects come from, for messages. */
  readonly origin: string;
  /** Called when a further kind was listed, or refused. */
  readonly onKind?: (done: number, all: number) => void;
}

export interface ListedSnapshot {
  readonly manifests: readonly Manifest[];
  /** The kinds that could be listed. */
  readonly readKinds: readonly string[];
  /** The kinds that could not be listed, with the reason: "pods (not allowed)". */
  readonly refused: readonly string[];
}

/** Rejects with KubeError, but not for single kinds. */
export async function listSnapshot(
  transport: Lister,
  { namespace, origin, onKind = () => undefined }: ListOptions,
): Promise<ListedSnapshot> {
  const requests = requestsOf(namespace);
  let done = 0;
  const answers = await Promise.all(
    requests.map(async (request) => {
      const answer = await list(transport, request, origin);
      onKind((done += 1), requests.length);
      return { request, answer };
    }),
  );
  const read = answers.flatMap(({ request, answer }) =>
    "refused" in answer ? [] : [{ kind: request.type.kind, manifests: answer.manifests }],
  );
  return {
    manifests: read.flatMap(({ manifests }) => manifests),
    readKinds: read.map(({ kind }) => kind),
    refused: answers.flatMap(({ request, answer }) =>
      "refused" in answer ? [`${request.type.plural} (${answer.refused})`] : [],
    ),
  };
}

type Request = Pick<Parameters<typeof listPages>[1], "type" | "namespace" | "fieldSelector">;

function requestsOf(namespace: string): readonly Request[] {
  const everywhere = [
    ...customResources,
    ...[nodes, pods, networkAttachmentDefinitions, disruptionBudgets, resourceClaims, resourceSlices, deviceClasses],
    ...[customResourceDefinitions, validatingWebhooks, mutatingWebhooks],
  ];
  return [
    ...everywhere.map((type) => ({ type })),
    { type: events, fieldSelector: "type=Warning" },
    { type: namespaces, fieldSelector: `metadata.name=${namespace}` },
    ...[configMaps, daemonSets, deployments, leases, endpointSlices].map((type) => ({ type, namespace })),
  ];
}

type Answer = { readonly manifests: readonly Manifest[] } | { readonly refused: string };

async function list(transport: Lister, request: Request, origin: string): Promise<Answer> {
  const manifests: Manifest[] = [];
  try {
    for await (const { items } of listPages(transport, { pageSize: 100, ...request })) {
      for (const item of items) manifests.push(...[toManifest(item, origin)].filter((one) => one !== undefined));
    }
    return { manifests };
  } catch (error) {
    if (isKubeError(error, "NotFound")) return { refused: "not served" };
    if (isKubeError(error, "Forbidden")) return { refused: "not allowed" };
    throw error;
  }
}

const events = { group: "", version: "v1", kind: "Event", plural: "events", namespaced: true } as const;
const disruptionBudgets = {
  group: "policy",
  version: "v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  namespaced: true,
} satisfies ResourceType;
/** The workloads of the components. */
export const daemonSets = {
  group: "apps",
  version: "v1",
  kind: "DaemonSet",
  plural: "daemonsets",
  namespaced: true,
} satisfies ResourceType;
/** The operator's workload. */
const deployments = {
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
} satisfies ResourceType;
const leases = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
} satisfies ResourceType;
const endpointSlices = {
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  namespaced: true,
} satisfies ResourceType;
const validatingWebhooks = {
  group: "admissionregistration.k8s.io",
  version: "v1",
  kind: "ValidatingWebhookConfiguration",
  plural: "validatingwebhookconfigurations",
  namespaced: false,
} satisfies ResourceType;
const mutatingWebhooks = {
  ...validatingWebhooks,
  kind: "MutatingWebhookConfiguration",
  plural: "mutatingwebhookconfigurations",
} satisfies ResourceType;
