// SPDX-License-Identifier: Apache-2.0
/**
 * renderBpfmanObject renders the object by which bpfman loads the program of one device: a ClusterBpfApplication, or an
 * XdpProgram of bpfman 0.5 and earlier (eve-and-afxdp.md b5). Pure.
 *
 * All fields are in the form that the API server stores, so that an unchanged object needs no write.
 * Usage: `renderBpfmanObject("ClusterBpfApplication", { node, device: "0000:86:00.0", interfaceName: "ens1f0" }, settings)`.
 */
import {
  annotations,
  bpfmanApiVersion,
  bpfmanProgram,
  bpfmanProgramDirectory,
  labels,
  type AfxdpBpfmanImage,
  type AfxdpBpfmanSettings,
  type ClusterBpfApplication,
  type Node,
  type ObjectMeta,
  type OwnerReference,
  type XdpProgram,
} from "@switchyard/api";
import { createHash } from "node:crypto";

/** Kinds of objects by which bpfman loads XDP programs. */
export type BpfmanKind = "ClusterBpfApplication" | "XdpProgram";

/** A program to load. */
export interface BpfmanTarget {
  readonly node: Node;
  /** Key of the device. */
  readonly device: string;
  readonly interfaceName: string;
  /** Owner of the object, with which the garbage collector deletes it. */
  readonly owner?: OwnerReference | undefined;
}

/** Where the program comes from. bpfman does not execute a change of it in an existing object. */
export interface BpfmanSource {
  readonly functionName: string;
  readonly path?: string;
  readonly image?: AfxdpBpfmanImage;
}

/** Label of the objects that the operator creates. */
export const bpfmanMark = { key: labels.managedBy, value: "switchyard-operator" } as const;

const defaultPriority = 1000;
const defaultPullPolicy = "IfNotPresent";

/** Returns the program of the config, by default Switchyard's. */
function bpfmanSource({ program }: AfxdpBpfmanSettings): BpfmanSource {
  const { file, functionName } = bpfmanProgram;
  return program ?? { functionName, path: `${bpfmanProgramDirectory}/${file}` };
}

/**
 * Returns the name of the object. bpfman uses it as the value of a label, so it has at most 63 characters; the hash at its
 * end makes it unique.
 */
export function bpfmanObjectName(nodeName: string, device: string): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([nodeName, device]))
    .digest("hex")
    .slice(0, 8);
  const short = (text: string, length: number) =>
    text
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .slice(0, length);
  return `afxdp-${short(nodeName, 24)}-${short(device, 22)}-${hash}`;
}

/** Renders an object of the kind. */
export function renderBpfmanObject(
  kind: BpfmanKind,
  target: BpfmanTarget,
  settings: AfxdpBpfmanSettings = {},
): ClusterBpfApplication | XdpProgram {
  return kind === "ClusterBpfApplication" ? renderApplication(target, settings) : renderXdpProgram(target, settings);
}

function renderApplication(target: BpfmanTarget, settings: AfxdpBpfmanSettings): ClusterBpfApplication {
  const { functionName, path, image } = bpfmanSource(settings);
  const link = {
    interfaceSelector: { interfaces: [target.interfaceName] },
    priority: settings.priority ?? defaultPriority,
    proceedOn: ["Pass", "DispatcherReturn"],
  };
  return {
    apiVersion: bpfmanApiVersion,
    kind: "ClusterBpfApplication",
    metadata: metadataOf(target),
    spec: {
      nodeSelector: selectorOf(target.node),
      byteCode: image === undefined ? { path: path ?? "" } : { image: withPolicy(image) },
      programs: [{ name: functionName, type: "XDP", xdp: { links: [link] } }],
    },
  };
}

function renderXdpProgram(target: BpfmanTarget, settings: AfxdpBpfmanSettings): XdpProgram {
  const { functionName, path, image } = bpfmanSource(settings);
  return {
    apiVersion: bpfmanApiVersion,
    kind: "XdpProgram",
    metadata: metadataOf(target),
    spec: {
      bpffunctionname: functionName,
      nodeselector: selectorOf(target.node),
      bytecode: image === undefined ? { path: path ?? "" } : { image: lowerCase(image) },
      interfaceselector: { interfaces: [target.interfaceName] },
      priority: settings.priority ?? defaultPriority,
      proceedon: ["pass", "dispatcher_return"],
    },
  };
}

function metadataOf({ node, device, owner }: BpfmanTarget): ObjectMeta {
  const { name } = node.metadata;
  return {
    name: bpfmanObjectName(name, device),
    labels: { [bpfmanMark.key]: bpfmanMark.value },
    annotations: { [annotations.afxdpNode]: name, [annotations.afxdpDevice]: device },
    ...(owner !== undefined && { ownerReferences: [owner] }),
  };
}

function selectorOf({ metadata: { name, labels: all = {} } }: Node) {
  return { matchLabels: { [labels.hostname]: all[labels.hostname] ?? name } };
}

function withPolicy({ url, imagePullPolicy = defaultPullPolicy, imagePullSecret }: AfxdpBpfmanImage) {
  return { url, imagePullPolicy, ...(imagePullSecret && { imagePullSecret }) };
}

function lowerCase({ url, imagePullPolicy = defaultPullPolicy, imagePullSecret }: AfxdpBpfmanImage) {
  return { url, imagepullpolicy: imagePullPolicy, ...(imagePullSecret && { imagepullsecret: imagePullSecret }) };
}
