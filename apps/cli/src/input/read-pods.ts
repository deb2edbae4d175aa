// SPDX-License-Identifier: Apache-2.0
/**
 * The pods of a live cluster that use VFs, as the webhook watches them. Nothing is written.
 * Usage: `const pods = await readPods({ context: "lab", env }, "openshift.io")`.
 */
import { readPod } from "@switchyard/admission";
import { connect, isKubeError, listPages } from "@switchyard/kube";
import { CliError } from "../cli-error.ts";
import { toManifest, type Manifest } from "./manifest.ts";
import { kubeconfigOf, type ClusterSource } from "./read-cluster.ts";

const type = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true } as const;

/** Undefined where the user may not list pods. Throws CliError "unavailable", with the API server's words. */
export async function readPods(
  source: Omit<ClusterSource, "namespace">,
  resourcePrefix: string,
): Promise<readonly Manifest[] | undefined> {
  const { context, env } = source;
  try {
    await using transport = await connect({ kubeconfig: kubeconfigOf(source), context, env });
    const users: Manifest[] = [];
    for await (const { items } of listPages(transport, { type, pageSize: 100, fieldSelector: "spec.nodeName!=" })) {
      for (const item of items.filter((pod) => readPod(pod, resourcePrefix) !== undefined)) {
        users.push(...[toManifest(item, context ?? "the cluster")].filter((pod) => pod !== undefined));
      }
    }
    return users;
  } catch (cause) {
    if (isKubeError(cause, "Forbidden")) return undefined;
    if (!isKubeError(cause)) throw cause;
    throw new CliError("unavailable", cause.message, { cause });
  }
}
