// SPDX-License-Identifier: Apache-2.0
/**
 * readPods reads the pods of a live cluster that may use VFs, and readPodsOn those of single nodes, with their allocated
 * devices. They write nothing.
 */
import { readPod } from "@switchyard/admission";
import { pods as podType, resourceClaims, resourceSlices, type ResourceType } from "@switchyard/api";
import { connect, isKubeError, listPages, type KubeObject, type Transport } from "@switchyard/kube";
import { toDrainedPod, type DrainedPod } from "@switchyard/policy";
import { CliError } from "../terminal.ts";
import type { PlacedPods } from "../cluster/evicted-pods.ts";
import { at, textAt, toManifest, type JsonObject, type Manifest } from "../json.ts";
import { kubeconfigOf, type ClusterSource } from "./read-cluster.ts";

/**
 * Returns Pods, and if one of them has a ResourceClaim also ResourceClaims and ResourceSlices; undefined if the user may not
 * list them. Throws CliError "unavailable" with the message of the API server.
 */
export async function readPods(
  source: Omit<ClusterSource, "namespace">,
  resourcePrefix: string,
): Promise<readonly Manifest[] | undefined> {
  const { context } = source;
  return ifAllowed(source, async (transport) => {
    const users: KubeObject[] = [];
    let haveClaims = false;
    for await (const pod of list(transport, podType, "spec.nodeName!=")) {
      const found = readPod(pod, resourcePrefix);
      if (found !== undefined) users.push(pod);
      haveClaims ||= (found?.devices.claims.length ?? 0) > 0;
    }
    const types = haveClaims ? [resourceClaims, resourceSlices] : [];
    for (const type of types) users.push(...(await listIfServed(transport, type)));
    return users.flatMap((object) => toManifest(object, context ?? "the cluster") ?? []);
  });
}

export interface PodsOnOptions {
  readonly resourcePrefix: string;
  /** The nodes, and whether all of their pods are read: only those that may use VFs unless true. */
  readonly nodes: ReadonlyMap<string, boolean>;
}

/** Up to this number of nodes, the pods of each one are listed alone, which API servers answer from an index. */
const maxListedAlone = 50;

/**
 * Returns the pods of these nodes, and what shows their devices; undefined if the user may not list them. Throws CliError
 * "unavailable" with the message of the API server.
 */
export async function readPodsOn(
  source: Omit<ClusterSource, "namespace">,
  { resourcePrefix, nodes }: PodsOnOptions,
): Promise<PlacedPods | undefined> {
  return ifAllowed(source, async (transport) => {
    const byNode = new Map<string, DrainedPod[]>();
    const selectors =
      nodes.size <= maxListedAlone ? [...nodes.keys()].map((node) => `spec.nodeName=${node}`) : ["spec.nodeName!="];
    let haveClaims = false;
    for (const selector of selectors) {
      for await (const pod of list(transport, podType, selector)) {
        const node = textAt(at(pod, "spec"), "nodeName") ?? "";
        const found = toDrainedPod(pod, resourcePrefix);
        if (nodes.get(node) !== true && !(nodes.has(node) && (found.holdsVfs || found.claims.length > 0))) continue;
        const onNode = byNode.get(node) ?? [];
        onNode.push(found);
        byNode.set(node, onNode);
        haveClaims ||= found.claims.length > 0;
      }
    }
    const read = async (type: ResourceType): Promise<readonly JsonObject[]> =>
      haveClaims ? (await listIfServed(transport, type)).map((object) => ({ ...object })) : [];
    return { byNode, claims: await read(resourceClaims), slices: await read(resourceSlices) };
  });
}

async function ifAllowed<T>(
  source: Omit<ClusterSource, "namespace">,
  read: (transport: Transport) => Promise<T>,
): Promise<T | undefined> {
  const { context, env } = source;
  try {
    await using transport = await connect({ kubeconfig: kubeconfigOf(source), context, env, usesProxyVariables: true });
    return await read(transport);
  } catch (cause) {
    if (isKubeError(cause, "Forbidden")) return undefined;
    if (!isKubeError(cause)) throw cause;
    throw new CliError("unavailable", cause.message, { cause });
  }
}

async function* list(transport: Transport, type: ResourceType, fieldSelector?: string): AsyncGenerator<KubeObject> {
  for await (const { items } of listPages(transport, { type, pageSize: 100, fieldSelector })) yield* items;
}

/** Kubernetes serves resource.k8s.io/v1 since 1.34. */
async function listIfServed(transport: Transport, type: ResourceType): Promise<readonly KubeObject[]> {
  try {
    return await Array.fromAsync(list(transport, type));
  } catch (error) {
    if (isKubeError(error, "NotFound")) return [];
    throw error;
  }
}
