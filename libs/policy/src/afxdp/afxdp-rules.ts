// SPDX-License-Identifier: Apache-2.0
/**
 * AfxdpRules contains everything in the cluster that decides which AF_XDP devices nodes offer.
 * Usage: `const rules = createAfxdpRules({ policies, operatorConfig });`, once for all nodes.
 */
import type {
  AfxdpMode,
  AfxdpNetworkNodePolicy,
  AfxdpOperatorConfig,
  AfxdpPoolSettings,
  AfxdpProvider,
} from "@switchyard/api";
import { compareText } from "../order.ts";
import { labelsProblem, nodeSetLabels, type Labels } from "../nodes/label-selector.ts";
import { defaultStaleDelayMs } from "../nodes/stale-state.ts";

/** The objects in the operator's namespace, in any order. Objects in other namespaces have no effect and must be omitted. */
export interface AfxdpRuleSources {
  readonly policies: readonly AfxdpNetworkNodePolicy[];
  /** The AfxdpOperatorConfig "default". If absent, its defaults apply. */
  readonly operatorConfig?: AfxdpOperatorConfig | undefined;
  /** Result of parseStaleDelayMs. Default: 30 minutes. */
  readonly staleDelayMs?: number | undefined;
}

/** The result of createAfxdpRules. It is immutable and does not depend on the order of the sources. */
export interface AfxdpRules {
  /** The policies from the highest to the lowest priority. */
  readonly policies: readonly AfxdpNetworkNodePolicy[];
  /** Labels that select the node set (nodeSetLabels). */
  readonly nodeSet: Labels;
  /**
   * Why configDaemonNodeSelector is not valid; undefined if it is. Nothing is known about the node set then, so no node
   * has left it.
   */
  readonly nodeSetProblem: string | undefined;
  readonly provider: AfxdpProvider;
  /** How long the state of a node that has left is kept; 0 means that it is deleted immediately. */
  readonly staleDelayMs: number;
}

export function createAfxdpRules({ policies, operatorConfig, staleDelayMs }: AfxdpRuleSources): AfxdpRules {
  return {
    policies: policies.toSorted(comparePrecedence),
    nodeSet: nodeSetLabels(operatorConfig),
    nodeSetProblem: labelsProblem(nodeSetLabels(operatorConfig)),
    provider: afxdpProviderOf(operatorConfig),
    staleDelayMs: staleDelayMs ?? defaultStaleDelayMs,
  };
}

/** Returns the provider of the device plugin and the CNI plugin. */
export function afxdpProviderOf(config: AfxdpOperatorConfig | undefined): AfxdpProvider {
  return config?.spec?.provider ?? "switchyard";
}

/** Returns the policy's mode, which follows from numSfs if it is absent. */
export function afxdpModeOf({ spec }: AfxdpNetworkNodePolicy): AfxdpMode {
  return spec.mode ?? ((spec.numSfs ?? 0) > 0 ? "subfunction" : "primary");
}

/** Returns the settings of the policy's pool with their defaults, in the order of the API. */
export function poolSettingsOf({ spec }: { readonly spec: AfxdpPoolSettings }): Required<AfxdpPoolSettings> {
  return {
    udsServer: spec.udsServer ?? true,
    bpfMapPinning: spec.bpfMapPinning ?? false,
    udsTimeout: spec.udsTimeout ?? 0,
    uid: spec.uid ?? 0,
    requiresUnprivilegedBpf: spec.requiresUnprivilegedBpf ?? false,
    excludeTopology: spec.excludeTopology ?? false,
  };
}

/** The lowest number and, among equal numbers, the name that sorts last come first (eve-and-afxdp.md b4). */
function comparePrecedence(a: AfxdpNetworkNodePolicy, b: AfxdpNetworkNodePolicy): number {
  const priorityOf = ({ spec }: AfxdpNetworkNodePolicy): number => spec.priority ?? lowestPriority;
  return priorityOf(a) - priorityOf(b) || compareText(b.metadata.name, a.metadata.name);
}

/** The default of the CRD. */
const lowestPriority = 99;
