// SPDX-License-Identifier: Apache-2.0
/** Creates, lists and deletes the pods that clean hosts up. */
import { labels, pods } from "@switchyard/api";
import {
  collectionPath,
  isKubeError,
  isKubeObject,
  KubeError,
  listPages,
  objectPath,
  type KubeObject,
} from "@switchyard/kube";
import { readObject, type CommandDeps } from "../command.ts";
import { cleanupPod, type CleanupPodOptions } from "./cleanup-pod.ts";

type Deps = Pick<CommandDeps, "transport" | "limit">;

/** Selects the pods of all runs of the command. */
const labelSelector = `${labels.cleanup}=host`;

/** Resolves with undefined while the node's pod of an earlier run is being deleted. Rejects with KubeError. */
export async function createCleanupPod(
  { transport, limit }: Deps,
  node: string,
  options: CleanupPodOptions,
): Promise<KubeObject | undefined> {
  const body = cleanupPod(node, options);
  const { name, namespace } = body.metadata;
  const path = collectionPath(pods, namespace);
  const created = await limit.retry(async (signal) => {
    try {
      return await transport.request({ method: "POST", path, body, signal });
    } catch (error) {
      if (!isKubeError(error, "AlreadyExists")) throw error;
      return undefined;
    }
  });
  if (isKubeObject(created)) return created;
  const found = await readObject({ transport, limit }, pods, { name, namespace });
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined;
  if (found.metadata.labels?.[labels.cleanup] === "host") return found; // the answer to the first request was lost
  throw new KubeError(`POST ${path}/${name}`, "AlreadyExists", {
    words: "a pod of this name belongs to another program",
  });
}

export async function listCleanupPods({ transport, limit }: Deps, namespace: string): Promise<readonly KubeObject[]> {
  return limit.retry(async (signal) => {
    const found: KubeObject[] = [];
    const list = { type: pods, namespace, labelSelector, pageSize: 500, signal };
    for await (const { items } of listPages(transport, list)) found.push(...items);
    return found;
  });
}

/** Succeeds if it is already gone. */
export async function deleteCleanupPod({ transport, limit }: Deps, { metadata }: KubeObject): Promise<void> {
  const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid: metadata.uid } };
  await limit.retry(async (signal) => {
    try {
      await transport.request({ method: "DELETE", path: objectPath(pods, metadata), body, signal });
    } catch (error) {
      if (!isKubeError(error, "NotFound", "Conflict")) throw error;
    }
  });
}
