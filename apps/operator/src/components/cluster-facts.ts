// SPDX-License-Identifier: Apache-2.0
/**
 * What the cluster decides of that which is deployed: who owns what lies outside of namespaces, and on OpenShift the
 * TLS profile.
 * Usage: `await using facts = watchClusterFacts({ transport, settings, report }); facts.owner()`.
 */
import type { OwnerReference } from "@switchyard/api";
import {
  joinWatches,
  watchObjects,
  type FailedWatch,
  type JoinedWatches,
  type KubeObject,
  type Transport,
} from "@switchyard/kube";
import type { ComponentSettings, TlsSettings } from "@switchyard/render";
import { readTlsProfile, type ApiServerConfig } from "./tls-profile.ts";

export interface ClusterFacts {
  /**
   * The operator's ClusterRole, which has the name of its service account. Uninstalled with the operator, it takes along
   * what it owns, also when nobody is left to clean up. Undefined: there is none.
   */
  owner(): OwnerReference | undefined;
  /** Undefined: the cluster has no opinion. */
  tls(): TlsSettings | undefined;
  /** Calls `listener` on each change. */
  subscribe(listener: () => void): () => void;
}

export type WatchedClusterFacts = ClusterFacts & JoinedWatches;

export interface WatchFactsOptions {
  readonly transport: Transport;
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

/** The one that there is on OpenShift. */
const apiServerName = "cluster";

export function watchClusterFacts({ transport, settings, report }: WatchFactsOptions): WatchedClusterFacts {
  const { operatorServiceAccount: roleName, clusterType } = settings;
  const role = watchObjects({
    ...{ transport, report, type: clusterRoles, fieldSelector: `metadata.name=${roleName}` },
    project: ({ metadata: { uid = "" } }: KubeObject) => ({ uid }),
  });
  const apiServer =
    clusterType === "kubernetes"
      ? undefined
      : watchObjects({
          ...{ transport, report, type: apiServers, fieldSelector: `metadata.name=${apiServerName}` },
          optional: true, // not all that calls itself OpenShift has it
          project: (object: ApiServerConfig) => ({ tls: readTlsProfile(object) }),
        });
  const watches = apiServer === undefined ? [role] : [role, apiServer];

  return Object.assign(joinWatches(watches), {
    owner() {
      const uid = role.get(roleName)?.uid;
      if (uid === undefined) return undefined;
      return { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", name: roleName, uid };
    },
    tls: () => apiServer?.get(apiServerName)?.tls,
  });
}
