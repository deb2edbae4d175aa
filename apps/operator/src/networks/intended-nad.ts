// SPDX-License-Identifier: Apache-2.0
/**
 * intendedNad renders the NetworkAttachmentDefinition of a network, or returns why the network is invalid
 * (sriov-operator.md D, M-35, M-54).
 */
import {
  err,
  ok,
  networkReasons,
  operatorConfigName,
  type AfxdpNetworkNodeState,
  type AfxdpOperatorConfig,
  type NetworkAttachmentDefinition,
  type Result,
} from "@switchyard/api";
import type { Cache } from "@switchyard/kube";
import { afxdpProviderOf } from "@switchyard/policy";
import {
  linuxBridgesOf,
  poolDevicesOf,
  renderNetwork,
  unattachableDevices,
  unfilteredBridgesOf,
  type Network,
} from "@switchyard/render";
import type { ConditionSummary } from "../reports/condition-summary.ts";
import type { CachedNodeState } from "../facts/cached-node-state.ts";
import type { OperatorSettings } from "../start/operator-settings.ts";

/** Inputs of a NetworkAttachmentDefinition besides its network. */
export interface IntentSources {
  readonly settings: Pick<OperatorSettings, "namespace" | "resourcePrefix"> & {
    readonly components: Pick<OperatorSettings["components"], "images">;
  };
  readonly states: Pick<Cache<CachedNodeState>, "list">;
  readonly afxdpStates: Pick<Cache<AfxdpNetworkNodeState>, "list">;
  readonly afxdpConfigs: Pick<Cache<AfxdpOperatorConfig>, "get">;
}

/** What the operator writes for a network. */
export interface IntendedNad {
  readonly nad: NetworkAttachmentDefinition;
  /**
   * Why pods may fail to join the network: devices that the plugin of an AfxdpNetwork cannot attach, or a plugin that the
   * operator does not install. "" if there is no reason.
   */
  readonly limit: string;
}

/** On failure, the summary lists all problems with their fields. */
export function intendedNad(
  network: Network,
  { settings, states, afxdpStates, afxdpConfigs }: IntentSources,
): Result<IntendedNad, ConditionSummary> {
  const problems: string[] = [];
  if (!mayChooseNamespace(network, settings.namespace)) {
    const reason = `the network is outside of the operator's namespace ${settings.namespace}`;
    problems.push(`spec.networkNamespace cannot be set, because ${reason}; omit it`);
  }
  if (network.kind !== "AfxdpNetwork" && !network.spec.resourceName) {
    problems.push("spec.resourceName: must not be empty; set it to the resourceName of a SriovNetworkNodePolicy");
  }

  const needsBridges = network.kind === "BridgeNetwork" && !network.spec.bridge;
  const unfilteredBridges = network.kind === "BridgeNetwork" ? unfilteredBridgesOf(network.spec, states.list()) : [];
  const bridges = needsBridges ? linuxBridgesOf(network.spec.resourceName, states.list()) : [];
  const afxdpProvider = afxdpProviderOf(afxdpConfigs.get(operatorConfigName));
  const afxdpDevices =
    network.kind === "AfxdpNetwork" ? poolDevicesOf(network.spec.poolName, afxdpStates.list()) : undefined;
  const rendered = renderNetwork(network, {
    resourcePrefix: settings.resourcePrefix,
    bridges,
    unfilteredBridges,
    afxdpProvider,
    ...(afxdpDevices && { afxdpDevices }),
  });
  if (!rendered.ok) problems.push(...rendered.error.map(({ field, message }) => `${field}: ${message}`));
  if (rendered.ok && problems.length === 0) {
    const isLimited = network.kind === "AfxdpNetwork" && afxdpDevices && afxdpProvider === "switchyard";
    const limit = isLimited
      ? unattachableDevices(network.spec.poolName, afxdpDevices)
      : missingPlugin(network.kind, settings.components.images);
    return ok({ nad: rendered.value, limit });
  }
  return err({ state: "degraded", reason: networkReasons.invalid, message: problems.join("; ") });
}

/** The plugins that init containers of the config daemon install, if their images are set: name, image and value of the chart. */
const plugins = {
  SriovNetwork: { plugin: "sriov", image: "sriovCni" },
  SriovIBNetwork: { plugin: "ib-sriov", image: "ibSriovCni" },
  OVSNetwork: { plugin: "ovs", image: "ovsCni" },
  BridgeNetwork: { plugin: "accelerated-bridge", image: "acceleratedBridgeCni" },
} as const;

/** Something else may have installed the plugin, so its network is not less ready. */
function missingPlugin(kind: Network["kind"], images: IntentSources["settings"]["components"]["images"]): string {
  if (kind === "AfxdpNetwork") return "";
  const { plugin, image } = plugins[kind];
  if (images[image]) return "";
  return (
    `the operator does not install the CNI plugin ${plugin}, because the chart's value images.${image} is empty: ` +
    "pods join the network only on nodes that have the plugin"
  );
}

/** Reports whether spec.networkNamespace is allowed: only administrators may write to the operator's namespace. */
export function mayChooseNamespace({ metadata, spec }: Network, operatorNamespace: string): boolean {
  return !spec.networkNamespace || metadata.namespace === operatorNamespace;
}
