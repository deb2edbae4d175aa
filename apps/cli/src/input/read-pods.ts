// SPDX-License-Identifier: Apache-2.0
/**
 * readPods reads the pods of a live cluster that may use VFs, and their allocated devices. It writes nothing.
 * Usage: `const pods = await readPods({ context: "lab", env }, "openshift.io")`.
 */
import { readPod } from "@switchyard/admission";
import { resourceClaims, resourceSlices, type ResourceType } from "@switchyard/api";
import { connect, isKubeError, listPages, type KubeObject, type Transport } from "@switchyard/kube";
import { CliError } from "../cli-error.ts";
import { toManifest, type Manifest } from "./manifest.ts";
import { kubeconfigOf, type ClusterSource } from "./read-cluster.ts";

const podType = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true } as const;

/**
 * Returns Pods, and if one of them has a ResourceClaim also ResourceClaims and ResourceSlices; undefined if the user may not
 * list them. Throws CliError "unavailable" with the message of the API server.
 */
export async function readPods(
  source: Omit<ClusterSource, "namespace">,
  resourcePrefix: string,
): Promise<readonly Manifest[] | undefined> {
  const { context, env } = source;
  try {
    await using transport = await connect({ kubeconfig: kubeconfigOf(source), context, env });
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
