// SPDX-License-Identifier: Apache-2.0
/**
 * What OpenShift's network operator reads from its ConfigMap `hardware-offload-config`: the resource of the management ports
 * (required with network segmentation, since 4.14), their number, and the labels of hosts (smartnic.md 1.1). An administrator's
 * settings win.
 * Usage: `const { resource, patch } = managementResource(configMap?.data ?? {}, { prefix: "openshift.io", isWanted: true });`
 */
import { mostManagementVfs } from "@switchyard/policy";

/** Name of the resource, without prefix, if no administrator has chosen one. */
const defaultManagementResource = "ovn_mgmt_vf";

/** End of that resource's full name, after the prefix. */
export const managementResourceSuffix = `/${defaultManagementResource}`;

/** Key of the ConfigMap with the full name of VF 0's resource. */
export const managementResourceKey = "mgmt-port-resource-name";

/** Key of the label of a host, unless the key dpu-host-mode-label of the ConfigMap names another one. */
export const defaultHostLabel = "network.operator.openshift.io/dpu-host";

/** Annotation of the ConfigMap: "mgmt-port-resource-name" if ovn-offload has set that key. */
export const ownKeyAnnotation = "switchyard.io/ovn-offload-key";

export interface ManagementResource {
  /** Name of VF 0's resource without prefix, the value of the node label ovnManagementResource; absent if unusable. */
  readonly resource?: string;
  /** JSON merge patch of the ConfigMap's `data`. */
  readonly patch: Readonly<Record<string, string | null>>;
  /** Why the administrator's setting cannot be used. */
  readonly problem?: string;
}

export interface ManagementResourceOptions {
  /** The operator's resource prefix: "openshift.io". */
  readonly prefix: string;
  /** False if no host is left: our setting is removed. */
  readonly isWanted: boolean;
  /** Whether ovn-offload set the key: from ownKeyAnnotation. */
  readonly isOwn?: boolean;
}

type Data = Readonly<Record<string, string>>;

/** Chooses the resource of VF 0, and sets it in the ConfigMap if nobody else has. */
export function managementResource(data: Data, options: ManagementResourceOptions): ManagementResource {
  const { prefix, isWanted, isOwn = false } = options;
  const present = Object.hasOwn(data, managementResourceKey) ? data[managementResourceKey] : undefined;
  const own = `${prefix}${managementResourceSuffix}`;
  if (!isWanted) return { patch: isOwn && present === own ? { [managementResourceKey]: null } : {} };
  if (present === undefined || (isOwn && present === "")) {
    return { resource: defaultManagementResource, patch: { [managementResourceKey]: own } };
  }
  const [, presentPrefix, name] = /^([^/]+)\/([A-Za-z0-9](?:[-A-Za-z0-9_]{0,61}[A-Za-z0-9])?)$/.exec(present) ?? [];
  if (presentPrefix === prefix && name !== undefined) return { resource: name, patch: {} };
  const expected = `expected ${prefix}/ and a name of letters, digits, "-" and "_"`;
  return {
    patch: {},
    problem: `${managementResourceKey} of ConfigMap hardware-offload-config is "${present}": ${expected}`,
  };
}

/** Number of VFs that ovnkube-node requests on each host. */
export interface ManagementPortCount {
  readonly count: number;
  /** Why the administrator's setting cannot be used. The network operator renders nothing then. */
  readonly problem?: string;
}

/** Reads how many management ports the network operator requests for each host; 1 by default. */
export function managementPortCount(data: Data): ManagementPortCount {
  const text = Object.hasOwn(data, countKey) ? (data[countKey] ?? "") : "";
  if (text === "") return { count: 1 };
  const count = /^\+?[0-9]{1,9}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= mostManagementVfs) return { count };
  const expected = `expected a number from 1 to ${mostManagementVfs}`;
  return {
    count: 1,
    problem: `${countKey} of ConfigMap hardware-offload-config is "${text.slice(0, 40)}": ${expected}`,
  };
}

const countKey = "mgmt-port-resource-count";

/** A label as key and value. */
export interface NodeLabel {
  readonly key: string;
  /** Undefined: any value, as the network operator's affinity has it. */
  readonly value: string | undefined;
}

/** The labels by which the network operator tells the kinds of nodes apart. */
export interface OffloadHostLabels {
  /** Marks the host of a SmartNIC. */
  readonly dpuHost: NodeLabel;
  /** A node that also has one of these is an error for the network operator, which then renders nothing. */
  readonly others: readonly NodeLabel[];
  /** Settings that the network operator ignores, too. */
  readonly problems: readonly string[];
}

/** Reads the labels as the network operator does: "key=" or "key=value"; anything else means the default. */
export function offloadHostLabels(data: Data): OffloadHostLabels {
  const problems: string[] = [];
  const read = (setting: string, fallback: string): NodeLabel => {
    const text = Object.hasOwn(data, setting) ? data[setting] : undefined;
    const label = text === undefined || text === "" ? undefined : parseLabel(text);
    if (text !== undefined && text !== "" && label === undefined) {
      problems.push(
        `${setting} of ConfigMap hardware-offload-config is "${text}": expected KEY= or KEY=VALUE; the default ${fallback}= is used`,
      );
    }
    return label ?? { key: fallback, value: undefined };
  };
  return {
    dpuHost: read("dpu-host-mode-label", defaultHostLabel),
    others: [
      read("dpu-mode-label", "network.operator.openshift.io/dpu"),
      read("smart-nic-mode-label", "network.operator.openshift.io/smart-nic"),
    ],
    problems,
  };
}

const labelKey =
  /^(?=.{1,317}$)(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const labelValue = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

function parseLabel(text: string): NodeLabel | undefined {
  const at = text.indexOf("=");
  const [key, value] = [text.slice(0, at), text.slice(at + 1)];
  if (at === -1 || !labelKey.test(key) || !labelValue.test(value)) return undefined;
  return { key, value: value === "" ? undefined : value };
}

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

/**
 * ovnHostLabels returns the labels by which OVN-Kubernetes recognises the host of a SmartNIC: on OpenShift the proposal's and the
 * network operator's, elsewhere OVN-Kubernetes' own (smartnic.md 5). `openshift` is undefined in other clusters.
 */
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
