// SPDX-License-Identifier: Apache-2.0
/**
 * intendedNad renders the NetworkAttachmentDefinition of a network, or returns why the network is invalid
 * (sriov-operator.md D, M-35, M-54).
 * Usage: `const intended = intendedNad(network, { settings, states, afxdpStates, afxdpConfigs }); if (!intended.ok) return intended.error;`.
 */
import {
  err,
  networkReasons,
  operatorConfigName,
  type AfxdpNetworkNodeState,
  type AfxdpOperatorConfig,
  type NetworkAttachmentDefinition,
  type Result,
} from "@switchyard/api";
import type { Cache } from "@switchyard/kube";
import { afxdpProviderOf } from "@switchyard/policy";
import { linuxBridgesOf, poolDevicesOf, renderNetwork, unattachableDevices, type Network } from "@switchyard/render";
import type { ConditionSummary } from "../status/condition-summary.ts";
import type { NodeStateFacts } from "../node-states/node-state-facts.ts";
import type { OperatorSettings } from "../start/operator-settings.ts";

/** Inputs of a NetworkAttachmentDefinition besides its network. */
export interface IntentSources {
  readonly settings: Pick<OperatorSettings, "namespace" | "resourcePrefix">;
  readonly states: Pick<Cache<NodeStateFacts>, "list">;
  readonly afxdpStates: Pick<Cache<AfxdpNetworkNodeState>, "list">;
  readonly afxdpConfigs: Pick<Cache<AfxdpOperatorConfig>, "get">;
}

/** On failure, the summary lists all problems with their fields. */
export function intendedNad(
  network: Network,
  { settings, states, afxdpStates, afxdpConfigs }: IntentSources,
): Result<NetworkAttachmentDefinition, ConditionSummary> {
  const problems: string[] = [];
  if (!mayChooseNamespace(network, settings.namespace)) {
    const reason = `the network is outside of the operator's namespace ${settings.namespace}`;
    problems.push(`spec.networkNamespace: must not be set, because ${reason}`);
  }
  if (network.kind !== "AfxdpNetwork" && !network.spec.resourceName) {
    problems.push("spec.resourceName: must not be empty; set it to the resourceName of a SriovNetworkNodePolicy");
  }

  const needsBridges = network.kind === "BridgeNetwork" && !network.spec.bridge;
  const bridges = needsBridges ? linuxBridgesOf(network.spec.resourceName, states.list()) : [];
  const afxdpProvider = afxdpProviderOf(afxdpConfigs.get(operatorConfigName));
  const rendered = renderNetwork(network, {
    ...{ resourcePrefix: settings.resourcePrefix, bridges, afxdpProvider },
    ...(network.kind === "AfxdpNetwork" && { afxdpDevices: poolDevicesOf(network.spec.poolName, afxdpStates.list()) }),
  });
  if (!rendered.ok) problems.push(...rendered.error.map(({ field, message }) => `${field}: ${message}`));
  if (rendered.ok && problems.length === 0) return rendered;
  return err({ state: "degraded", reason: networkReasons.invalid, message: problems.join("; ") });
}

/** Returns the sentence about devices that the network's plugin cannot attach; "" if it can attach all. */
export function attachmentLimit(
  network: Network,
  { afxdpStates, afxdpConfigs }: Pick<IntentSources, "afxdpStates" | "afxdpConfigs">,
): string {
  if (network.kind !== "AfxdpNetwork") return "";
  if (afxdpProviderOf(afxdpConfigs.get(operatorConfigName)) !== "switchyard") return "";
  const { poolName } = network.spec;
  return unattachableDevices(poolName, poolDevicesOf(poolName, afxdpStates.list()));
}

/** Reports whether spec.networkNamespace is allowed: only administrators may write to the operator's namespace. */
export function mayChooseNamespace({ metadata, spec }: Network, operatorNamespace: string): boolean {
  return !spec.networkNamespace || metadata.namespace === operatorNamespace;
}
