// SPDX-License-Identifier: Apache-2.0
/**
 * wantedLabels returns the labels that ovn-offload owns on a node: the steps of a host. In: pool label, files (clusters without
 * MachineConfigs), label for OVN-Kubernetes. Out: files, label for OVN-Kubernetes, pool label. Each step requires that the one
 * before has been observed, so the steps survive a restart at any point.
 */
import { labels } from "@switchyard/api";
import { ovnHostLabels, type OffloadHostLabels } from "@switchyard/render";
import { canBeMarked, isClean, isPrepared, type AssignedHost } from "./host.ts";
import { hostLabelsOf } from "./host-state.ts";

export interface SharedState {
  /** Labels of the network operator; undefined in clusters without MachineConfigPools. */
  readonly openshift: OffloadHostLabels | undefined;
  /** Name of the management ports' resource; undefined if they have none. */
  readonly resource: string | undefined;
  /** Number of management ports of each host. */
  readonly managementVfs: number;
  /** Whether pods of DNS are kept off the hosts, as far as that is possible. */
  readonly isDnsPlaced: boolean;
  /** Whether a host of the pool may lose its first label: nothing that is shared is left that needs it. */
  readonly isRestored: (pool: string) => boolean;
}

export interface WantedLabels {
  readonly labels: Readonly<Record<string, string>>;
  /** A label of others that excludes ours. */
  readonly conflict?: string;
}

export function wantedLabels(host: AssignedHost, shared: SharedState): WantedLabels {
  const { direction } = host;
  if (direction === "enter") return entering(host, shared);
  if (direction === "leave") return { labels: leaving(host, shared) };
  return { labels: kept(host, host.node.ownLabels) };
}

/** Reports whether the host may get the label for OVN-Kubernetes, or keep it. */
export function isConfigured(host: AssignedHost): boolean {
  const { isApplied, isNamed, isPublished, isLabelled, marker } = host;
  if (marker === undefined || !isPublished) return false;
  return isLabelled || (isApplied === true && isNamed && isPrepared(host));
}

function entering(host: AssignedHost, { openshift, resource, managementVfs, isDnsPlaced }: SharedState): WantedLabels {
  if (host.marker === undefined && !canBeMarked(host)) return { labels: {} };
  const own = {
    [labels.ovnOffloadPool]: host.pool,
    ...(resource !== undefined && { [labels.ovnManagementResource]: resource }),
    ...(managementVfs > 1 && { [labels.ovnManagementVfs]: String(managementVfs) }),
    ...(openshift === undefined && usesFiles(host, isDnsPlaced) && { [labels.ovnOffloadFiles]: "daemon" }),
  };
  const present = { ...host.node.metadata.labels };
  for (const key of hostLabelsOf(host.node)) Reflect.deleteProperty(present, key);
  const { labels: forOvn, conflict } = ovnHostLabels(present, openshift);
  if (conflict !== undefined) return { labels: { ...own, ...kept(host, hostLabelsOf(host.node)) }, conflict };
  return { labels: isConfigured(host) ? { ...own, ...forOvn } : own };
}

function usesFiles(host: AssignedHost, isDnsPlaced: boolean): boolean {
  return host.node.metadata.labels?.[labels.ovnOffloadFiles] === "daemon" || (isPrepared(host) && isDnsPlaced);
}

function leaving(host: AssignedHost, { isRestored }: SharedState): Readonly<Record<string, string>> {
  const marks = [labels.ovnOffloadPool, labels.ovnManagementResource, labels.ovnManagementVfs];
  if (isClean(host)) return isRestored(host.pool) ? {} : kept(host, marks);
  if (host.isApplied === false) return kept(host, marks);
  return kept(host, [...marks, ...hostLabelsOf(host.node)]);
}

function kept({ node }: AssignedHost, keys: readonly string[]): Readonly<Record<string, string>> {
  const present = node.metadata.labels ?? {};
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = present[key];
      return value === undefined || !node.ownLabels.includes(key) ? [] : [[key, value] as const];
    }),
  );
}
