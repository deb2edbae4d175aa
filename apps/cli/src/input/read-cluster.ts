// SPDX-License-Identifier: Apache-2.0
/**
 * readCluster reads the objects of a live cluster that determine what Switchyard does there. It writes nothing.
 * Usage: `const manifests = await readCluster({ context: "lab", namespace: "sriov-network-operator", env })`.
 */
import {
  clusterVersions,
  configMaps,
  customResources,
  dnses,
  machineConfigPools,
  nodes,
  sriovNetworkNodePolicies,
  type ResourceType,
} from "@switchyard/api";
import { connect, isKubeError, listPages } from "@switchyard/kube";
import { CliError } from "../cli-error.ts";
import { networkConfigMaps } from "../ovn-offload/network-objects.ts";
import { toManifest, type Manifest } from "./manifest.ts";

export interface ClusterSource {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  /** The namespace of the operator, which may have a ConfigMap with additional NICs. */
  readonly namespace: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Throws CliError "unavailable" with the message of the API server. */
export async function readCluster(source: ClusterSource): Promise<readonly Manifest[]> {
  const { namespace, env } = source;
  const origin = source.context ?? source.kubeconfig ?? "the cluster";
  try {
    await using transport = await connect({ kubeconfig: kubeconfigOf(source), context: source.context, env });
    const read = async (request: Parameters<typeof listPages>[1]): Promise<readonly Manifest[]> => {
      const manifests: Manifest[] = [];
      for await (const { items } of listPages(transport, { pageSize: 100, ...request })) {
        for (const item of items) manifests.push(...[toManifest(item, origin)].filter((one) => one !== undefined));
      }
      return manifests;
    };
    const readIfServed = async (type: ResourceType): Promise<readonly Manifest[]> => {
      try {
        return await read({ type });
      } catch (error) {
        // Upstream's charts lack kinds, such as BridgeNetwork. Without policies, it is not a cluster of either operator.
        if (type.kind !== sriovNetworkNodePolicies.kind && isKubeError(error, "NotFound")) return [];
        throw error;
      }
    };
    /** What only OVN on SmartNICs depends on. Users may lack the right to read it. */
    const readIfAllowed = async (request: Parameters<typeof listPages>[1]): Promise<readonly Manifest[]> => {
      try {
        return await read(request);
      } catch (error) {
        if (isKubeError(error, "NotFound", "Forbidden")) return [];
        throw error;
      }
    };
    const named = { type: configMaps, namespace, fieldSelector: "metadata.name=supported-nic-ids" };
    const lists = await Promise.all([
      ...[read({ type: nodes }), ...customResources.map(readIfServed), read(named)],
      ...[machineConfigPools, dnses, clusterVersions].map((type) => readIfAllowed({ type })),
      ...Object.values(networkConfigMaps).map(({ namespace: home, name }) =>
        readIfAllowed({ type: configMaps, namespace: home, fieldSelector: `metadata.name=${name}` }),
      ),
    ]);
    return lists.flat();
  } catch (cause) {
    if (!isKubeError(cause)) throw cause;
    throw new CliError("unavailable", cause.message, { cause });
  }
}

/** The order of kubectl: the flag, KUBECONFIG (which connect() reads itself), and ~/.kube/config. */
export function kubeconfigOf({ kubeconfig, env }: Pick<ClusterSource, "kubeconfig" | "env">): string | undefined {
  return kubeconfig ?? (env["KUBECONFIG"] ? undefined : `${env["HOME"] ?? ""}/.kube/config`);
}
