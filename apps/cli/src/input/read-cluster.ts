// SPDX-License-Identifier: Apache-2.0
/** readCluster reads the objects of a live cluster that determine what Switchyard does there. It writes nothing. */
import {
  clusterVersions,
  configMaps,
  customResources,
  defined,
  deviceClasses,
  dnses,
  machineConfigPools,
  nodes,
  resourceSlices,
  sriovNetworkNodePolicies,
  type ResourceType,
} from "@switchyard/api";
import { connect, isKubeError, listPages, type Transport } from "@switchyard/kube";
import { textAt, toManifest, type Manifest } from "../json.ts";
import { networkConfigMaps } from "../cluster/network-objects.ts";
import { CliError, type Diagnostics } from "../terminal.ts";
import { daemonSets, listSnapshot } from "./list-snapshot.ts";
import { readServerSecrets } from "./read-server-secrets.ts";

export interface ClusterSource {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  /** The namespace of the operator, which may have a ConfigMap with additional NICs. */
  readonly namespace: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** With `hasClaims`, also reads DeviceClasses and ResourceSlices. Throws CliError "unavailable" with the message of the API server. */
export async function readCluster(
  source: ClusterSource,
  { hasClaims = false }: { readonly hasClaims?: boolean } = {},
): Promise<readonly Manifest[]> {
  const { namespace, env } = source;
  const origin = source.context ?? source.kubeconfig ?? "the cluster";
  try {
    await using transport = await connect({
      kubeconfig: kubeconfigOf(source),
      context: source.context,
      env,
      usesProxyVariables: true,
    });
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
    /** What only OVN on SmartNICs or claims depend on. Users may lack the right to read it. */
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
      ...[machineConfigPools, dnses, clusterVersions, ...(hasClaims ? [deviceClasses, resourceSlices] : [])].map(
        (type) => readIfAllowed({ type }),
      ),
      ...Object.values(networkConfigMaps).map(({ namespace: home, name }) =>
        readIfAllowed({ type: configMaps, namespace: home, fieldSelector: `metadata.name=${name}` }),
      ),
    ]);
    return lists.flat();
  } catch (cause) {
    if (!isKubeError(cause)) throw cause;
    if (cause.code === "NotFound") {
      const text = `${origin} does not have Switchyard's CustomResourceDefinitions: install the chart, or choose another context`;
      throw new CliError("unavailable", text, { cause });
    }
    throw new CliError("unavailable", cause.message, { cause });
  }
}

/** The order of kubectl: the flag, KUBECONFIG (which connect() reads itself), and ~/.kube/config. */
export function kubeconfigOf({ kubeconfig, env }: Pick<ClusterSource, "kubeconfig" | "env">): string | undefined {
  return kubeconfig ?? (env["KUBECONFIG"] ? undefined : `${env["HOME"] ?? ""}/.kube/config`);
}

export interface SnapshotInput {
  readonly manifests: readonly Manifest[];
  /** The kinds that could be read from the cluster; empty for files. */
  readonly readKinds: readonly string[];
  /** The API server's clock after reading, in milliseconds since 1970; undefined for files. */
  readonly nowMs?: number;
  /** The API server's version, such as "v1.36.3"; undefined for files. */
  readonly kubernetesVersion?: string;
  /** Context or kubeconfig of the cluster; undefined for files. */
  readonly clusterName?: string;
  /** Name or address of the API server. */
  readonly server?: string;
}

/**
 * readSnapshot reads what switchyard doctor and vfs use of a live cluster. It writes nothing, and needs no right in particular:
 * kinds that are not served or that the user may not list are named and left out. Throws CliError "unavailable" if the cluster
 * cannot be reached, or nothing can be read.
 */
export async function readSnapshot(source: ClusterSource, diagnostics: Diagnostics): Promise<SnapshotInput> {
  const { namespace, context, kubeconfig, env } = source;
  const origin = context ?? kubeconfig ?? "the cluster";
  try {
    await using transport = await connect({ kubeconfig: kubeconfigOf(source), context, env, usesProxyVariables: true });
    const { manifests, readKinds, refused } = await listSnapshot(transport, { namespace, origin });
    const servers = manifests.filter(({ kind }) => kind === daemonSets.kind);
    const secrets = await readServerSecrets(transport, servers, origin);
    const missing = [...namedOnce(refused), ...secrets.refused.map((name) => `secret ${name} (not allowed)`)];
    if (missing.length > 0) diagnostics.note(`not read: ${missing.join(", ")}`);
    if (manifests.length === 0) throw new CliError("unavailable", "no object of the cluster can be read");
    const { nowMs, kubernetesVersion } = await readServer(transport);
    const read = { manifests: [...manifests, ...secrets.manifests], readKinds };
    return { ...read, ...defined({ nowMs, kubernetesVersion, clusterName: origin, server: transport.serverHost }) };
  } catch (cause) {
    if (!isKubeError(cause)) throw cause;
    throw new CliError("unavailable", cause.message, { cause });
  }
}

/** Before an installation no kind of Switchyard is served: one sentence says it, and the kinds of others are named. */
function namedOnce(refused: readonly string[]): readonly string[] {
  const own = new Set(customResources.map(({ plural }) => `${plural} (not served)`));
  const others = refused.filter((text) => !own.has(text));
  const isWithoutAny = refused.length - others.length === own.size;
  return isWithoutAny ? ["the kinds of Switchyard, which is not installed", ...others] : refused;
}

/** The clock and the version of the API server. The clock of this machine may differ. Undefined what the server does not say. */
async function readServer(transport: Transport): Promise<{
  readonly nowMs: number | undefined;
  readonly kubernetesVersion: string | undefined;
}> {
  let nowMs: number | undefined;
  let kubernetesVersion: string | undefined;
  try {
    const info = await transport.request({ method: "GET", path: "/version", onServerTime: (ms) => (nowMs = ms) });
    kubernetesVersion = textAt(info, "gitVersion");
  } catch (error) {
    if (!isKubeError(error)) throw error; // a refusal has the time, too
  }
  return { nowMs, kubernetesVersion };
}
