// SPDX-License-Identifier: Apache-2.0
/**
 * readSnapshot reads what switchyard doctor and vfs use of a live cluster. It writes nothing, and needs no right in particular:
 * kinds that are not served or that the user may not list are named and left out.
 * Usage: `const { manifests } = await readSnapshot({ context: "lab", namespace, env }, diagnostics)`.
 */
import {
  configMaps,
  customResourceDefinitions,
  customResources,
  networkAttachmentDefinitions,
  nodes,
  pods,
  resourceClaims,
  resourceSlices,
  type ResourceType,
} from "@switchyard/api";
import { connect, isKubeError, listPages, type Transport } from "@switchyard/kube";
import { CliError } from "../cli-error.ts";
import type { Diagnostics } from "../diagnostics.ts";
import { toManifest, type Manifest } from "./manifest.ts";
import { kubeconfigOf, type ClusterSource } from "./read-cluster.ts";
import { readServerSecrets } from "./read-server-secrets.ts";

type Request = Pick<Parameters<typeof listPages>[1], "type" | "namespace" | "fieldSelector">;

export interface SnapshotInput {
  readonly manifests: readonly Manifest[];
  /** The kinds that could be read from the cluster; empty for files. */
  readonly readKinds: readonly string[];
}

/** Throws CliError "unavailable" if the cluster cannot be reached, or nothing can be read. */
export async function readSnapshot(source: ClusterSource, diagnostics: Diagnostics): Promise<SnapshotInput> {
  const origin = source.context ?? source.kubeconfig ?? "the cluster";
  try {
    await using transport = await connect({
      ...{ kubeconfig: kubeconfigOf(source), context: source.context, env: source.env },
    });
    const answers = await Promise.all(
      requestsOf(source.namespace).map(async (request) => ({
        request,
        answer: await list(transport, request, origin),
      })),
    );
    const refused = answers.flatMap(({ request, answer }) =>
      "refused" in answer ? [`${request.type.plural} (${answer.refused})`] : [],
    );
    const read = answers.flatMap(({ request, answer }) =>
      "refused" in answer ? [] : [{ request, manifests: answer.manifests }],
    );
    const servers = read.find(({ request }) => request.type.kind === daemonSets.kind)?.manifests ?? [];
    const secrets = await readServerSecrets(transport, servers, origin);
    refused.push(...secrets.refused.map((name) => `secret ${name} (not allowed)`));
    if (refused.length > 0) diagnostics.note(`not read: ${refused.join(", ")}`);
    if (read.every(({ manifests }) => manifests.length === 0)) {
      throw new CliError("unavailable", "no object of the cluster can be read");
    }
    return {
      manifests: [...read.flatMap(({ manifests }) => manifests), ...secrets.manifests],
      readKinds: read.map(({ request }) => request.type.kind),
    };
  } catch (cause) {
    if (!isKubeError(cause)) throw cause;
    throw new CliError("unavailable", cause.message, { cause });
  }
}

function requestsOf(namespace: string): readonly Request[] {
  const everywhere = [
    ...customResources,
    ...[nodes, pods, networkAttachmentDefinitions, disruptionBudgets, resourceClaims, resourceSlices],
    ...[customResourceDefinitions, validatingWebhooks, mutatingWebhooks],
  ];
  return [
    ...everywhere.map((type) => ({ type })),
    { type: events, fieldSelector: "type=Warning" },
    ...[configMaps, daemonSets, leases, endpointSlices].map((type) => ({ type, namespace })),
  ];
}

type Answer = { readonly manifests: readonly Manifest[] } | { readonly refused: string };

async function list(transport: Transport, request: Request, origin: string): Promise<Answer> {
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
  ...{ group: "policy", version: "v1", kind: "PodDisruptionBudget", plural: "poddisruptionbudgets", namespaced: true },
} satisfies ResourceType;
const daemonSets = {
  ...{ group: "apps", version: "v1", kind: "DaemonSet", plural: "daemonsets", namespaced: true },
} satisfies ResourceType;
const leases = {
  ...{ group: "coordination.k8s.io", version: "v1", kind: "Lease", plural: "leases", namespaced: true },
} satisfies ResourceType;
const endpointSlices = {
  ...{ group: "discovery.k8s.io", version: "v1", kind: "EndpointSlice", plural: "endpointslices", namespaced: true },
} satisfies ResourceType;
const validatingWebhooks = {
  ...{ group: "admissionregistration.k8s.io", version: "v1", kind: "ValidatingWebhookConfiguration" },
  ...{ plural: "validatingwebhookconfigurations", namespaced: false },
} satisfies ResourceType;
const mutatingWebhooks = {
  ...{ ...validatingWebhooks, kind: "MutatingWebhookConfiguration", plural: "mutatingwebhookconfigurations" },
} satisfies ResourceType;
