// SPDX-License-Identifier: Apache-2.0
/**
 * ClusterSettings are the properties of the cluster that deployed components depend on: the owner of cluster-scoped
 * objects, and on OpenShift the TLS profile and the location of the control plane.
 */
import { customResourceDefinitions, type OwnerReference } from "@switchyard/api";
import {
  isKubeError,
  isRecord,
  joinWatches,
  metadataOnly,
  objectPath,
  recordAt,
  watchObjects,
  type FailedWatch,
  type JoinedWatches,
  type KubeObject,
  type ReflectorOptions,
  type ResourceType,
  type ServedGroups,
  type Transport,
} from "@switchyard/kube";
import type { ComponentSettings, TlsSettings } from "@switchyard/render";
import { readTlsProfile, type ApiServerConfig } from "./tls-profile.ts";

export interface ClusterSettings {
  /**
   * The operator's ClusterRole, which has the name of its ServiceAccount. Uninstalling the operator deletes the
   * ClusterRole, and the garbage collector then deletes the objects that it owns. Undefined if the ClusterRole does not
   * exist.
   */
  owner(): OwnerReference | undefined;
  /** Undefined if the cluster does not set a TLS profile for all components. */
  tls(): TlsSettings | undefined;
  /** Whether the control plane runs outside of this cluster (HyperShift). Undefined if the cluster does not tell. */
  isControlPlaneExternal(): boolean | undefined;
  /** Calls `listener` on each change. */
  subscribe(listener: () => void): () => void;
}

export type WatchedClusterSettings = ClusterSettings & JoinedWatches;

export interface WatchClusterSettingsOptions {
  readonly transport: Transport;
  /** For kinds that may be missing. */
  readonly groups?: ServedGroups;
  readonly settings: ComponentSettings;
  readonly report: (error: unknown, at: FailedWatch) => void;
}

const clusterRoles = {
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "ClusterRole",
  plural: "clusterroles",
  namespaced: false,
} as const;

const apiServers = {
  group: "config.openshift.io",
  version: "v1",
  kind: "APIServer",
  plural: "apiservers",
  namespaced: false,
} as const;

const infrastructures = {
  ...apiServers,
  kind: "Infrastructure",
  plural: "infrastructures",
} as const;

/** Name of the only object of each of these kinds. */
const singleton = "cluster";

export function watchClusterSettings({
  transport,
  groups,
  settings,
  report,
}: WatchClusterSettingsOptions): WatchedClusterSettings {
  const { operatorServiceAccount: roleName, clusterType } = settings;
  const role = watchObjects({
    transport,
    report,
    type: clusterRoles,
    fieldSelector: `metadata.name=${roleName}`,
    project: ({ metadata: { uid = "" } }: KubeObject) => ({ uid }),
  });
  const openshift = clusterType === "openshift" ? watchOpenshift({ transport, groups, report }) : undefined;

  return Object.assign(joinWatches([role, ...Object.values(openshift ?? {})]), {
    owner() {
      const uid = role.get(roleName)?.uid;
      if (uid === undefined) return undefined;
      return { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", name: roleName, uid };
    },
    tls: () => openshift?.apiServer.get(singleton)?.tls,
    isControlPlaneExternal: () => openshift?.infrastructure.get(singleton)?.isControlPlaneExternal,
  });
}

/** The kinds are optional, because not every cluster of type "openshift" has them. */
function watchOpenshift(watching: Pick<ReflectorOptions, "transport" | "groups" | "report">) {
  const options = { ...watching, fieldSelector: `metadata.name=${singleton}`, optional: true };
  return {
    apiServer: watchObjects({
      ...options,
      type: apiServers,
      project: (object: ApiServerConfig) => ({ tls: readTlsProfile(object) }),
    }),
    infrastructure: watchObjects({
      ...options,
      type: infrastructures,
      project: (object: KubeObject) => ({ isControlPlaneExternal: readTopology(object) }),
    }),
  };
}

function readTopology(infrastructure: KubeObject): boolean | undefined {
  const { controlPlaneTopology } = recordAt(infrastructure, "status");
  return typeof controlPlaneTopology === "string" && controlPlaneTopology !== ""
    ? controlPlaneTopology === "External"
    : undefined;
}

/**
 * isKindServed asks the discovery of the API server whether it serves a kind, before something is removed because the kind is
 * missing.
 * Returns false only if discovery lacks the group, the version or the kind. Rejects with KubeError.
 */
export async function isKindServed(
  transport: Pick<Transport, "request">,
  { group, version, plural }: ResourceType,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const found = await transport.request({ method: "GET", path: `/apis/${group}/${version}`, signal });
    const resources: unknown = isRecord(found) ? found["resources"] : undefined;
    if (!Array.isArray(resources)) return true; // unknown
    return resources.some((it: unknown) => isRecord(it) && it["name"] === plural);
  } catch (error) {
    if (isKubeError(error, "NotFound")) return false;
    throw error;
  }
}

/**
 * isKindGone reports whether the API server neither serves a kind nor has its CustomResourceDefinition: only then its objects do not
 * exist any more. A definition can be there with a version that is not served. Rejects with KubeError.
 */
export async function isKindGone(
  transport: Pick<Transport, "request">,
  type: ResourceType,
  signal: AbortSignal,
): Promise<boolean> {
  if (await isKindServed(transport, type, signal)) return false;
  try {
    const path = objectPath(customResourceDefinitions, { name: `${type.plural}.${type.group}` });
    await transport.request({ method: "GET", path, accept: metadataOnly, signal });
    return false;
  } catch (error) {
    if (isKubeError(error, "NotFound")) return true;
    if (isKubeError(error, "Forbidden")) return false; // not known, as with roles of an older release
    throw error;
  }
}
