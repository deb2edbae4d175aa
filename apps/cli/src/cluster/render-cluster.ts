// SPDX-License-Identifier: Apache-2.0
/**
 * renderCluster renders the objects that the operator would write for a cluster, by the functions that the operator calls.
 */
import { afxdpApiVersion, apiVersion, type SriovNetworkNodeState } from "@switchyard/api";
import { afxdpProviderOf, createRules, policiesSelecting, type Rules } from "@switchyard/policy";
import {
  bpfmanDevices,
  devicePluginConfigMap,
  formatAfxdpPluginsConfig,
  formatDevicePluginConfig,
  linuxBridgesOf,
  nodeAfxdpPluginsConfig,
  nodeDevicePluginConfig,
  policyDevicePluginConfig,
  poolDevicesOf,
  renderBpfmanObject,
  renderNetwork,
  unfilteredBridgesOf,
  withoutManagementVf,
} from "@switchyard/render";
import { labelOf } from "../json.ts";
import type { Diagnostics } from "../terminal.ts";
import { nicPolicyOf, type ClusterObjects } from "./cluster-objects.ts";
import { desiredAfxdpStates, type DesiredAfxdpOptions, type DesiredAfxdpState } from "./desired-afxdp-states.ts";
import { desiredStates, type DesiredState } from "./desired-states.ts";

const name = "afxdp-plugins-config";

/**
 * The configuration that the device plugin of a node reads. It is a file on the node, never an object in the cluster, and is
 * only printed if it is asked for by --only.
 */
export const nodeConfigKind = "DevicePluginConfig";

/** The kinds of the rendered objects. */
export const renderedKinds: readonly string[] = [
  "AfxdpNetworkNodeState",
  "ClusterBpfApplication",
  "ConfigMap",
  nodeConfigKind,
  "NetworkAttachmentDefinition",
  "SriovNetworkNodeState",
];

export interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

export interface RenderOptions {
  /** The namespace of the operator. */
  readonly namespace: string;
  readonly resourcePrefix: string;
  readonly diagnostics: Diagnostics;
}

/** Sorted by kind, namespace and name. An object that cannot be rendered is reported and left out. */
export function renderCluster(cluster: ClusterObjects, options: RenderOptions): readonly Rendered[] {
  const { namespace } = options;
  const { policies, pools, operatorConfig } = cluster;
  const rules = createRules({ policies, pools, operatorConfig, nics: nicPolicyOf(cluster) });
  const desired = desiredStates(cluster, { ...options, rules });
  const states = desired.map(({ node, spec }): SriovNetworkNodeState => {
    const metadata = { name: node.metadata.name, namespace };
    return { apiVersion, kind: "SriovNetworkNodeState", metadata, spec };
  });
  const afxdpStates = desiredAfxdpStates(cluster, { ...options, desired });
  return [
    ...renderConfigMap(desired, rules, { cluster, ...options }),
    ...renderNodeConfigs(desired, cluster, options),
    ...renderNetworks(cluster, { states, afxdpStates }, options),
    ...states,
    ...renderAfxdp(cluster, afxdpStates, options),
  ].sort(compareRendered);
}

/** The order of printed objects. */
export function compareRendered(a: Rendered, b: Rendered): number {
  const [left, right] = [a, b].map(({ kind, metadata }) => [kind, metadata.namespace ?? "", metadata.name]);
  for (const [index, part] of (left ?? []).entries()) {
    const other = right?.[index] ?? "";
    if (part !== other) return part < other ? -1 : 1;
  }
  return 0;
}

/** What networks depend on besides their specs. */
interface NodeStates {
  readonly states: readonly SriovNetworkNodeState[];
  readonly afxdpStates: readonly DesiredAfxdpState[];
}

function renderNetworks(
  { networks, afxdp }: ClusterObjects,
  { states, afxdpStates }: NodeStates,
  { namespace: home, resourcePrefix, diagnostics }: RenderOptions,
): readonly Rendered[] {
  return networks.flatMap((network) => {
    const label = labelOf({ kind: network.kind, ...network.metadata });
    if (network.metadata.namespace !== home && network.spec.networkNamespace) {
      diagnostics.report(
        `${label}: spec.networkNamespace cannot be set outside of the operator's namespace ${home}; omit it`,
      );
      return [];
    }
    const bridges = network.kind === "BridgeNetwork" ? linuxBridgesOf(network.spec.resourceName, states) : [];
    const unfilteredBridges = network.kind === "BridgeNetwork" ? unfilteredBridgesOf(network.spec, states) : [];
    const afxdpProvider = afxdpProviderOf(afxdp.operatorConfig);
    const rendered = renderNetwork(network, {
      resourcePrefix,
      bridges,
      unfilteredBridges,
      afxdpProvider,
      ...(network.kind === "AfxdpNetwork" && { afxdpDevices: poolDevicesOf(network.spec.poolName, afxdpStates) }),
    });
    if (rendered.ok) return [rendered.value];
    for (const { field, message } of rendered.error) diagnostics.report(`${label}: ${field}: ${message}`);
    return [];
  });
}

/**
 * Without policies and config for AF_XDP, there are no states for it. With loader bpfman, bpfman 0.6 is assumed, and there is an
 * object for each device that the node has reported.
 */
function renderAfxdp(
  cluster: ClusterObjects,
  desired: readonly DesiredAfxdpState[],
  options: RenderOptions,
): readonly Rendered[] {
  const { loader, bpfman } = cluster.afxdp.operatorConfig?.spec ?? {};
  const states = desired.flatMap(({ node, spec, status }): readonly Rendered[] => {
    const metadata = { name: node.metadata.name, namespace: options.namespace };
    const devices = loader === "bpfman" ? bpfmanDevices({ spec, ...(status && { status }) }) : [];
    const state = { apiVersion: afxdpApiVersion, kind: "AfxdpNetworkNodeState", metadata, spec };
    return [
      state,
      ...devices.flatMap(({ device, interfaceName }) =>
        interfaceName === undefined
          ? []
          : [renderBpfmanObject("ClusterBpfApplication", { node, device, interfaceName }, bpfman)],
      ),
    ];
  });
  return [...states, ...renderAfxdpPlugins(cluster, desired, options)];
}

/** By the function that device-plugin-config calls on the node, from the VFs that the node has reported. */
function renderNodeConfigs(
  desired: readonly DesiredState[],
  { states }: ClusterObjects,
  { namespace, diagnostics }: RenderOptions,
) {
  return desired.map(({ node, spec }) => {
    const { name: nodeName } = node.metadata;
    const metadata = { name: nodeName, namespace };
    const status = states.get(nodeName)?.status ?? {};
    const state: SriovNetworkNodeState = { apiVersion, kind: "SriovNetworkNodeState", metadata, spec, status };
    const { config, problems } = nodeDevicePluginConfig(state);
    for (const { resourceName, message } of problems) {
      diagnostics.note(`SriovNetworkNodeState/${namespace}/${nodeName}: resource ${resourceName}: ${message}`);
    }
    return { apiVersion: "v1", kind: nodeConfigKind, metadata: { name: nodeName }, ...config };
  });
}

/** Upstream's ConfigMap, which has a key for each node. Without nodes there is no ConfigMap. */
function renderConfigMap(
  desired: readonly DesiredState[],
  rules: Rules,
  { cluster, namespace, diagnostics }: RenderOptions & { readonly cluster: ClusterObjects },
): readonly Rendered[] {
  if (desired.length === 0) return [];
  const nics = rules.nics.known.map(({ vendor, pf, vf }) => ({
    vendor,
    pfDevice: pf,
    vfDevice: vf,
  }));
  const texts = new Map<string, string>();
  for (const { node } of desired) {
    const { name } = node.metadata;
    const interfaces = cluster.states.get(name)?.status?.interfaces ?? [];
    const { config, problems } = policyDevicePluginConfig({
      policies: withoutManagementVf(policiesSelecting(node, rules), { node, interfaces }),
      interfaces,
      nics,
    });
    texts.set(name, formatDevicePluginConfig(config));
    for (const { resourceName, message } of problems) {
      diagnostics.note(
        `ConfigMap/${namespace}/device-plugin-config, which only exists with --write-configmap: node ${name}: resource ${resourceName}: ${message}`,
      );
    }
  }
  return [devicePluginConfigMap(namespace, texts)];
}

/**
 * renderAfxdpPlugins renders the configuration of the device plugin of provider upstream for each node, by the function that writes it
 * on the nodes. It is printed as a ConfigMap with a key for each node; no such object is created in a cluster.
 * Empty with another provider, and without nodes. What cannot be offered on a node is noted.
 */
function renderAfxdpPlugins(
  { afxdp }: Pick<ClusterObjects, "afxdp">,
  desired: readonly DesiredAfxdpState[],
  { namespace, diagnostics }: Pick<DesiredAfxdpOptions, "namespace" | "diagnostics">,
) {
  if (desired.length === 0 || afxdpProviderOf(afxdp.operatorConfig) !== "upstream") return [];
  const verbosity = afxdp.operatorConfig?.spec?.logLevel;
  const data: Record<string, string> = {};
  for (const { node, spec } of desired) {
    const status = afxdp.states.get(node.metadata.name)?.status ?? {};
    const { config, problems } = nodeAfxdpPluginsConfig({ spec, status }, { verbosity });
    data[node.metadata.name] = formatAfxdpPluginsConfig(config);
    for (const { poolName, message } of problems) {
      diagnostics.note(`ConfigMap/${namespace}/${name}: node ${node.metadata.name}: pool ${poolName}: ${message}`);
    }
  }
  return [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data }];
}
