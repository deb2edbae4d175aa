// SPDX-License-Identifier: Apache-2.0
/**
 * renderNetwork renders the NetworkAttachmentDefinition of a network of any kind (sriov-operator.md D).
 * The CNI configuration is built from values and formatted as a whole, so users' text cannot change its structure.
 * Usage: `renderNetwork(network, { resourcePrefix: "openshift.io", bridges: linuxBridgesOf(resourceName, states) })`.
 */
import {
  afxdpResourcePrefix,
  annotations,
  err,
  ok,
  type AfxdpProvider,
  type NetworkAttachmentDefinition,
  type Result,
} from "@switchyard/api";
import { afxdpNetworkProblems } from "./afxdp-network-problems.ts";
import { bridgeList, type PoolDevices } from "./node-devices.ts";
import {
  configTooLarge,
  maxConfigBytes,
  readNetworkTexts,
  type NetworkProblem,
  type NetworkTexts,
} from "./network-texts.ts";
import { compactJson, formatJson, joinObjects, jsonObject, layoutLength, type JsonObject } from "./json.ts";
import {
  acceleratedBridgePlugin,
  afxdpPlugin,
  ibSriovPlugin,
  ovsPlugin,
  sriovPlugin,
  type AfxdpPlugin,
} from "./plugin-configs.ts";
import { networkRef, type Network } from "./network-ref.ts";
import { unfilteredBridgesText, vlanFilteringProblems } from "./vlan-filtering.ts";

/** Information that the network itself does not contain. */
export interface NetworkContext {
  /** Prefix of resource names, the part before the slash: "openshift.io". */
  readonly resourcePrefix: string;
  /** Result of linuxBridgesOf, used for a BridgeNetwork without spec.bridge. */
  readonly bridges?: readonly string[];
  /** Result of unfilteredBridgesOf, used for a BridgeNetwork with VLANs. */
  readonly unfilteredBridges?: readonly string[];
  /** Provider of the CNI plugin, used for an AfxdpNetwork. Default: switchyard. */
  readonly afxdpProvider?: AfxdpProvider;
  /** Result of poolDevicesOf, used for an AfxdpNetwork. Default: the devices have ids. */
  readonly afxdpDevices?: PoolDevices;
}

/**
 * Renders the NetworkAttachmentDefinition. If the network is invalid, the result contains all problems. The network
 * must have a namespace, as all objects on an API server do.
 */
export function renderNetwork(
  network: Network,
  context: NetworkContext,
): Result<NetworkAttachmentDefinition, readonly NetworkProblem[]> {
  const texts = readNetworkTexts(network.spec);
  const bridge = bridgeOf(network, context);
  const provider = context.afxdpProvider ?? "switchyard";
  const { names, hasIds } = context.afxdpDevices ?? { names: [], hasIds: true };
  // Of a pool with both, the pods that get a device with an id can be attached.
  const afxdp = { provider, names: hasIds ? [] : names };
  const unsuited = [
    ...(network.kind === "AfxdpNetwork" ? afxdpNetworkProblems(network.spec, afxdp) : []),
    ...vlanProblems(network, context),
  ];
  if (!texts.ok || !bridge.ok || unsuited.length > 0) {
    return err([...(texts.ok ? [] : texts.error), ...(bridge.ok ? [] : [bridge.error]), ...unsuited]);
  }
  const main = mainPlugin(network, texts.value, { bridge: bridge.value, afxdp });
  const config = textOf(configOf(network.metadata.name, main, texts.value.metaPlugins));
  if (!config.ok) return err([config.error]);
  return ok({
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: metadataOf(network, context.resourcePrefix),
    spec: { config: config.value },
  });
}

/** Returns the problems of the network that do not depend on the bridges in the cluster. */
export function networkProblems(
  network: Network,
  context: Pick<NetworkContext, "afxdpProvider"> = {},
): readonly NetworkProblem[] {
  const rendered = renderNetwork(network, { ...context, resourcePrefix: "", bridges: ["any"] });
  return rendered.ok ? [] : rendered.error;
}

/** Returns the namespace of the network's NetworkAttachmentDefinition. */
export function targetNamespace({ metadata, spec }: Network): string {
  return spec.networkNamespace || (metadata.namespace ?? "default");
}

/** Returns the full name of the resource that pods of the network request. */
function networkResource(network: Network, resourcePrefix: string): string {
  return network.kind === "AfxdpNetwork"
    ? `${afxdpResourcePrefix}/${network.spec.poolName}`
    : `${resourcePrefix}/${network.spec.resourceName}`;
}

interface PluginChoice {
  /** Value of `bridge` for the plugin of a BridgeNetwork. */
  readonly bridge: string;
  readonly afxdp: AfxdpPlugin;
}

function mainPlugin(network: Network, texts: NetworkTexts, { bridge, afxdp }: PluginChoice): JsonObject {
  switch (network.kind) {
    case "SriovNetwork":
      return sriovPlugin(network.spec, texts);
    case "SriovIBNetwork":
      return ibSriovPlugin(network.spec, texts);
    case "OVSNetwork":
      return ovsPlugin(network.spec, texts);
    case "BridgeNetwork":
      return acceleratedBridgePlugin(network.spec, bridge, texts);
    case "AfxdpNetwork":
      return afxdpPlugin(network.spec, afxdp, texts);
  }
}

/** Returns the value of `bridge` in the configuration of a BridgeNetwork's plugin; "" for other kinds. */
function bridgeOf(network: Network, { bridges = [] }: NetworkContext): Result<string, NetworkProblem> {
  if (network.kind !== "BridgeNetwork") return ok("");
  const list = network.spec.bridge || bridgeList(bridges);
  if (list !== undefined) return ok(list);
  const message =
    `is required, because no policy creates a Linux bridge for PFs with the resource ${network.spec.resourceName}: ` +
    "set it to the name of an existing bridge";
  return err({ code: "no-bridge", field: "spec.bridge", message });
}

function vlanProblems(network: Network, { unfilteredBridges = [] }: NetworkContext): readonly NetworkProblem[] {
  if (network.kind !== "BridgeNetwork" || unfilteredBridges.length === 0) return [];
  return vlanFilteringProblems(network.spec, unfilteredBridgesText(unfilteredBridges));
}

/** Returns the configuration of a single plugin, or a plugin list if there are meta plugins. */
function configOf(name: string, main: JsonObject, metaPlugins: readonly JsonObject[]): JsonObject {
  const head = jsonObject({ cniVersion: "1.0.0", name });
  return joinObjects(head, metaPlugins.length === 0 ? main : jsonObject({ plugins: [main, ...metaPlugins] }));
}

/**
 * Formats the configuration like upstream, so that it is readable and existing NetworkAttachmentDefinitions need no
 * update. If the indented text would be too long, it is formatted without blanks.
 */
function textOf(config: JsonObject): Result<string, NetworkProblem> {
  const compact = compactJson(config);
  const bytes = Buffer.byteLength(compact);
  if (bytes > maxConfigBytes) return err({ code: "too-large", field: "spec", message: configTooLarge(bytes) });
  const isShort = compact.length <= maxIndentedLength && compact.length + layoutLength(config) <= maxIndentedLength;
  return ok(isShort ? formatJson(config) : compact);
}

const maxIndentedLength = 64 * 1024;

/**
 * The network becomes the owner only in its own namespace. In another namespace Kubernetes would not find the owner and
 * would delete the NetworkAttachmentDefinition.
 */
function metadataOf(network: Network, prefix: string): NetworkAttachmentDefinition["metadata"] {
  const { apiVersion, kind } = network;
  const { name, uid, namespace = "default" } = network.metadata;
  const target = targetNamespace(network);
  return {
    name,
    namespace: target,
    annotations: {
      [annotations.resourceName]: networkResource(network, prefix),
      [annotations.ownerRef]: networkRef(network),
    },
    ...(uid !== undefined && target === namespace && { ownerReferences: [{ apiVersion, kind, name, uid }] }),
  };
}
