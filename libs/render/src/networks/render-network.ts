// SPDX-License-Identifier: Apache-2.0
/**
 * The NetworkAttachmentDefinition of a network, of all four kinds (sriov-operator.md D): objects until the last moment,
 * never text put into text, so that a quote in a user's ipam stays a quote.
 * Usage: `renderNetwork(network, { resourcePrefix: "openshift.io", bridges: linuxBridgesOf(resourceName, states) })`.
 */
import {
  annotations,
  err,
  ok,
  type BridgeNetwork,
  type NetworkAttachmentDefinition,
  type OVSNetwork,
  type Result,
  type SriovIBNetwork,
  type SriovNetwork,
} from "@switchyard/api";
import { bridgeList } from "./candidate-bridges.ts";
import { configTooLarge, maxConfigBytes } from "./config-size.ts";
import { compactJson, formatJson, joinObjects, jsonObject, layoutLength, type JsonObject } from "./json.ts";
import { readNetworkTexts, type NetworkProblem, type NetworkTexts } from "./network-texts.ts";
import { acceleratedBridgePlugin, ibSriovPlugin, ovsPlugin, sriovPlugin } from "./plugin-configs.ts";

export type Network = SriovNetwork | SriovIBNetwork | OVSNetwork | BridgeNetwork;

/** What the network itself does not say. */
export interface NetworkContext {
  /** Before the slash of a resource's full name: "openshift.io". */
  readonly resourcePrefix: string;
  /** For a BridgeNetwork that names no bridge: those that it may be, from linuxBridgesOf. */
  readonly bridges?: readonly string[];
}

/** On failure: everything that is wrong. The network has a namespace, as all that the API server holds do. */
export function renderNetwork(
  network: Network,
  context: NetworkContext,
): Result<NetworkAttachmentDefinition, readonly NetworkProblem[]> {
  const texts = readNetworkTexts(network.spec);
  const bridge = bridgeOf(network, context);
  if (!texts.ok || !bridge.ok) return err([...(texts.ok ? [] : texts.error), ...(bridge.ok ? [] : [bridge.error])]);
  const main = mainPlugin(network, bridge.value, texts.value);
  const config = textOf(configOf(network.metadata.name, main, texts.value.metaPlugins));
  if (!config.ok) return err([config.error]);
  return ok({
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: metadataOf(network, context.resourcePrefix),
    spec: { config: config.value },
  });
}

/** What is wrong with the network itself, whatever bridges a cluster has. */
export function networkProblems(network: Network): readonly NetworkProblem[] {
  const rendered = renderNetwork(network, { resourcePrefix: "", bridges: ["any"] });
  return rendered.ok ? [] : rendered.error;
}

/** Where the NetworkAttachmentDefinition of a network is. */
export function targetNamespace({ metadata, spec }: Network): string {
  return spec.networkNamespace || (metadata.namespace ?? "default");
}

function mainPlugin(network: Network, bridge: string, texts: NetworkTexts): JsonObject {
  switch (network.kind) {
    case "SriovNetwork":
      return sriovPlugin(network.spec, texts);
    case "SriovIBNetwork":
      return ibSriovPlugin(network.spec, texts);
    case "OVSNetwork":
      return ovsPlugin(network.spec, texts);
    case "BridgeNetwork":
      return acceleratedBridgePlugin(network.spec, bridge, texts);
  }
}

/** The bridges that a BridgeNetwork's plugin is told; "" for other kinds. */
function bridgeOf(network: Network, { bridges = [] }: NetworkContext): Result<string, NetworkProblem> {
  if (network.kind !== "BridgeNetwork") return ok("");
  const list = network.spec.bridge || bridgeList(bridges);
  if (list !== undefined) return ok(list);
  const message =
    `is needed: no policy makes a Linux bridge for PFs with the resource ${network.spec.resourceName}, ` +
    "and of a bridge that somebody else makes only the name can tell";
  return err({ code: "no-bridge", field: "spec.bridge", message });
}

/** A single plugin's configuration, or a list where others are chained to it. */
function configOf(name: string, main: JsonObject, metaPlugins: readonly JsonObject[]): JsonObject {
  const head = jsonObject({ cniVersion: "1.0.0", name });
  return joinObjects(head, metaPlugins.length === 0 ? main : jsonObject({ plugins: [main, ...metaPlugins] }));
}

/**
 * Laid out as upstream does, so that what exists is not written again, and people can read it. Where the layout would take
 * more than the content ever needs, without blanks.
 */
function textOf(config: JsonObject): Result<string, NetworkProblem> {
  const compact = compactJson(config);
  const bytes = Buffer.byteLength(compact);
  if (bytes > maxConfigBytes) return err({ code: "too-large", field: "spec", message: configTooLarge(bytes) });
  const isShort = compact.length <= longestLayout && compact.length + layoutLength(config) <= longestLayout;
  return ok(isShort ? formatJson(config) : compact);
}

const longestLayout = 64 * 1024;

/** A network owns what is in its own namespace; elsewhere Kubernetes would take the owner for gone and delete it. */
function metadataOf(network: Network, prefix: string): NetworkAttachmentDefinition["metadata"] {
  const { apiVersion, kind } = network;
  const { name, uid, namespace = "default" } = network.metadata;
  const [group = ""] = apiVersion.split("/");
  const target = targetNamespace(network);
  return {
    name,
    namespace: target,
    annotations: {
      [annotations.resourceName]: `${prefix}/${network.spec.resourceName}`,
      [annotations.ownerRef]: `${kind}.${group}/${namespace}/${name}`,
    },
    ...(uid !== undefined && target === namespace && { ownerReferences: [{ apiVersion, kind, name, uid }] }),
  };
}
