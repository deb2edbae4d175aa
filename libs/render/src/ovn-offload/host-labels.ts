// SPDX-License-Identifier: Apache-2.0
/**
 * ovnHostLabels returns the labels by which OVN-Kubernetes recognises the host of a SmartNIC: on OpenShift the proposal's and the
 * network operator's, elsewhere OVN-Kubernetes' own (smartnic.md 5).
 * Usage: `const { labels, conflict } = ovnHostLabels(node.metadata.labels ?? {}, offloadHostLabels(data));`
 */
import type { OffloadHostLabels } from "./hardware-offload-config.ts";

/** The label of the proposal. */
export const proposalHostLabel = "network.operator.openshift.io/ovn-offload-host";

/** The label of OVN-Kubernetes without OpenShift. */
export const plainHostLabel = "k8s.ovn.org/dpu-host";

/** The label of the SmartNIC's own node, in clusters without OpenShift. */
const plainCardLabel = "k8s.ovn.org/dpu";

export interface HostLabels {
  /** Labels that the host must have; empty in a conflict. */
  readonly labels: Readonly<Record<string, string>>;
  /** A label of the node that excludes ours. */
  readonly conflict?: string;
}

/** `openshift` is undefined in other clusters. */
export function ovnHostLabels(nodeLabels: Readonly<Record<string, string>>, openshift?: OffloadHostLabels): HostLabels {
  const others = openshift?.others ?? [{ key: plainCardLabel, value: undefined }];
  const conflict = others.find(
    ({ key, value }) => Object.hasOwn(nodeLabels, key) && (value === undefined || nodeLabels[key] === value),
  );
  if (conflict !== undefined) return { labels: {}, conflict: conflict.key };
  if (openshift === undefined) return { labels: { [plainHostLabel]: "" } };
  const { key, value = "" } = openshift.dpuHost;
  return { labels: { [proposalHostLabel]: "", [key]: value } };
}
