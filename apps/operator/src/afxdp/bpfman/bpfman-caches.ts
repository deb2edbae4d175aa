// SPDX-License-Identifier: Apache-2.0
/**
 * watchBpfman watches the kinds of bpfman. All are optional: bpfman 0.6 has others than 0.5, and most clusters have none. What
 * programs of other projects wrote is parsed here; a field with an unexpected value counts as absent.
 */
import {
  annotations,
  bpfPrograms,
  clusterBpfApplications,
  clusterBpfApplicationStates,
  defined,
  xdpPrograms,
} from "@switchyard/api";
import {
  cutText,
  isRecord,
  maxMessageBytes,
  recordAt,
  sharingEqual,
  watchObjects,
  type Cache,
  type KubeObject,
} from "@switchyard/kube";
import { bpfmanMark, type BpfmanKind } from "@switchyard/render";
import { fieldManagers } from "../../field-managers.ts";
import type { WatchNetworksOptions } from "../../facts/network-caches.ts";

/** The parts of an object that loads programs. */
export interface CachedBpfmanObject {
  readonly kind: BpfmanKind;
  readonly metadata: {
    readonly name: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
  };
  /** Whether it has the label of the operator. */
  readonly isOwn: boolean;
  /** Name of its Node; "" if it is not the operator's. */
  readonly nodeName: string;
  /** Key of the device; "" if it is not the operator's. */
  readonly device: string;
  /** The bytecode and the names of the functions: what bpfman does not execute in an existing object. */
  readonly source: unknown;
  /** Network interfaces to which the first program is attached. */
  readonly interfaces: readonly string[];
}

/** What bpfman reports about a program on one node. */
export interface BpfmanReport {
  readonly metadata: { readonly name: string };
  /** Name and uid of the object that it is about. */
  readonly ownerName: string;
  readonly ownerUid: string;
  /** Status of loading: "LoadSuccess"; for BpfPrograms the type of the condition: "Loaded". */
  readonly load: string;
  readonly programId?: number;
  /** Status of the attachment by interface: "Attached". Undefined for BpfPrograms, which have none of their own. */
  readonly links?: Readonly<Record<string, string>>;
  /** Type and message of the condition. */
  readonly condition?: { readonly type: string; readonly message: string };
}

export interface BpfmanCaches {
  readonly bpfApplications: Cache<CachedBpfmanObject>;
  readonly bpfApplicationStates: Cache<BpfmanReport>;
  readonly xdpPrograms: Cache<CachedBpfmanObject>;
  readonly bpfPrograms: Cache<BpfmanReport>;
}

/** Name of the indexes: of objects by their node, of reports by the name of the object that they are about. */
export const [byNode, byOwner] = ["node", "owner"] as const;

const objectIndexes = { [byNode]: ({ isOwn, nodeName }: CachedBpfmanObject) => (isOwn ? [nodeName] : []) };
const reportIndexes = { [byOwner]: ({ ownerName }: BpfmanReport) => [ownerName] };

/** Options of the cache of each kind. */
const bpfmanStores = {
  bpfApplications: {
    type: clusterBpfApplications,
    project: sharingEqual((object: KubeObject) => cachedApplication(object)),
    indexes: objectIndexes,
    managers: [fieldManagers.bpfmanPrograms],
  },
  bpfApplicationStates: {
    type: clusterBpfApplicationStates,
    project: sharingEqual((object: KubeObject) => applicationReport(object)),
    indexes: reportIndexes,
  },
  xdpPrograms: {
    type: xdpPrograms,
    project: sharingEqual((object: KubeObject) => cachedXdpProgram(object)),
    indexes: objectIndexes,
    managers: [fieldManagers.bpfmanPrograms],
  },
  bpfPrograms: {
    type: bpfPrograms,
    project: sharingEqual((object: KubeObject) => bpfProgramReport(object)),
    indexes: reportIndexes,
  },
};

export function watchBpfman(options: WatchNetworksOptions) {
  return {
    bpfApplications: watchObjects({ ...options, ...bpfmanStores.bpfApplications, optional: true }),
    bpfApplicationStates: watchObjects({ ...options, ...bpfmanStores.bpfApplicationStates, optional: true }),
    xdpPrograms: watchObjects({ ...options, ...bpfmanStores.xdpPrograms, optional: true }),
    bpfPrograms: watchObjects({ ...options, ...bpfmanStores.bpfPrograms, optional: true }),
  } satisfies BpfmanCaches;
}

function cachedApplication(object: KubeObject): CachedBpfmanObject {
  const spec = recordAt(object, "spec");
  const programs = recordsIn(spec, "programs");
  const [link] = recordsIn(recordAt(programs[0], "xdp"), "links");
  return {
    kind: "ClusterBpfApplication",
    ...identityOf(object),
    source: { byteCode: spec["byteCode"], programs: programs.map(({ name, type }) => ({ name, type })) },
    interfaces: textsIn(recordAt(link, "interfaceSelector"), "interfaces"),
  };
}

function cachedXdpProgram(object: KubeObject): CachedBpfmanObject {
  const spec = recordAt(object, "spec");
  return {
    kind: "XdpProgram",
    ...identityOf(object),
    source: { bytecode: spec["bytecode"], bpffunctionname: spec["bpffunctionname"] },
    interfaces: textsIn(recordAt(spec, "interfaceselector"), "interfaces"),
  };
}

/** Returns the part of a rendered object that bpfman does not execute in an existing object, as in CachedBpfmanObject. */
export function sourceOf(object: KubeObject): unknown {
  return (object.kind === xdpPrograms.kind ? cachedXdpProgram(object) : cachedApplication(object)).source;
}

function identityOf({ metadata }: KubeObject): Pick<CachedBpfmanObject, "metadata" | "isOwn" | "nodeName" | "device"> {
  const { name, uid, resourceVersion, creationTimestamp, deletionTimestamp } = metadata;
  const nodeName = metadata.annotations?.[annotations.afxdpNode] ?? "";
  const device = metadata.annotations?.[annotations.afxdpDevice] ?? "";
  return {
    metadata: { name, ...defined({ uid, resourceVersion, creationTimestamp, deletionTimestamp }) },
    isOwn: metadata.labels?.[bpfmanMark.key] === bpfmanMark.value && nodeName !== "" && device !== "",
    nodeName,
    device,
  };
}

function applicationReport(object: KubeObject): BpfmanReport {
  const status = recordAt(object, "status");
  const [program] = recordsIn(status, "programs");
  const links = recordsIn(recordAt(program, "xdp"), "links").map(
    (link) => [textIn(link, "interfaceName"), textIn(link, "linkStatus")] as const,
  );
  return {
    ...reportOf(object, clusterBpfApplications.kind),
    load: textIn(status, "appLoadStatus"),
    ...defined({ programId: programIdOf(program?.["programId"]), condition: conditionIn(status) }),
    links: Object.fromEntries(links),
  };
}

function bpfProgramReport(object: KubeObject): BpfmanReport {
  const condition = conditionIn(recordAt(object, "status"));
  const id = object.metadata.annotations?.[annotations.bpfmanProgramId] ?? "";
  return {
    ...reportOf(object, xdpPrograms.kind),
    load: condition?.type ?? "",
    ...defined({ programId: /^\d{1,10}$/.test(id) ? programIdOf(Number(id)) : undefined, condition }),
  };
}

function reportOf({ metadata }: KubeObject, kind: string): Pick<BpfmanReport, "metadata" | "ownerName" | "ownerUid"> {
  const owner = metadata.ownerReferences?.find((reference) => reference.kind === kind);
  return { metadata: { name: metadata.name }, ownerName: owner?.name ?? "", ownerUid: owner?.uid ?? "" };
}

/** bpfman writes one condition. If there are several, the one that is True counts. */
function conditionIn(status: Readonly<Record<string, unknown>>): BpfmanReport["condition"] {
  const condition = recordsIn(status, "conditions").find((one) => one["status"] === "True");
  if (condition === undefined) return undefined;
  return { type: textIn(condition, "type"), message: cutText(textIn(condition, "message"), maxMessageBytes) };
}

function programIdOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

function recordsIn(object: unknown, field: string): readonly Readonly<Record<string, unknown>>[] {
  const list = isRecord(object) ? object[field] : undefined;
  return Array.isArray(list) ? list.filter((one: unknown) => isRecord(one)) : [];
}

function textsIn(object: unknown, field: string): readonly string[] {
  const list = isRecord(object) ? object[field] : undefined;
  return Array.isArray(list) ? list.filter((one: unknown) => typeof one === "string") : [];
}

function textIn(object: Readonly<Record<string, unknown>>, field: string): string {
  const value = object[field];
  return typeof value === "string" ? value : "";
}
