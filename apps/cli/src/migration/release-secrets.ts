// SPDX-License-Identifier: Apache-2.0
/** readReleaseSecrets reads the Secrets in which Helm keeps the revisions of its releases. */
import { connect, isKubeError, listPages } from "@switchyard/kube";
import { kubeconfigOf, type ClusterSource } from "../input/read-cluster.ts";
import { secrets } from "../input/read-server-secrets.ts";
import { toManifest, type Manifest } from "../json.ts";
import { CliError } from "../terminal.ts";
import { releaseSecretType } from "./helm-release.ts";

/**
 * Returns the Secrets of releases in the operator's namespace; none if the user may not read them. Throws CliError "unavailable" if
 * the cluster cannot be reached.
 */
export async function readReleaseSecrets(source: ClusterSource): Promise<readonly Manifest[]> {
  const { namespace, context, kubeconfig, env } = source;
  const origin = context ?? kubeconfig ?? "the cluster";
  const manifests: Manifest[] = [];
  try {
    await using transport = await connect({ kubeconfig: kubeconfigOf(source), context, env, usesProxyVariables: true });
    const request = { type: secrets, namespace, fieldSelector: `type=${releaseSecretType}`, pageSize: 10 };
    for await (const { items } of listPages(transport, request)) {
      for (const item of items) manifests.push(...[toManifest(item, origin)].filter((one) => one !== undefined));
    }
    return manifests;
  } catch (cause) {
    if (isKubeError(cause, "Forbidden")) return [];
    if (!isKubeError(cause)) throw cause;
    throw new CliError("unavailable", cause.message, { cause });
  }
}
