// SPDX-License-Identifier: Apache-2.0
/**
 * What a drain leaves on a Node: that it is unschedulable, a note that this is our doing, and a taint that keeps
 * DaemonSets away. Only what is ours, or was upstream's, is taken back: a node that an admin made unschedulable stays so
 * (M-13).
 * Usage: `await cordonNode(name, { blockDaemonSets: false }, access); … await uncordonNode(name, access);`
 */
import { annotations, nodes, taints, upstreamManager, type Node, type Taint } from "@switchyard/api";
import {
  isKubeError,
  isKubeObject,
  isRecord,
  KubeError,
  metadataOnly,
  objectPath,
  type KubeObject,
  type Transport,
} from "@switchyard/kube";

/** What a drain needs of a Node. */
export interface CordonOptions {
  /** DaemonSets shall not make their pods anew there. */
  readonly blockDaemonSets: boolean;
}

/** How the API server is reached. */
export interface Access {
  readonly transport: Pick<Transport, "request">;
  readonly signal: AbortSignal;
}

/** Whether there is something on the node for uncordonNode to take back. */
export function hasDrainMarks(node: Node): boolean {
  return isCordonedByUs(node) || hasTaint(node.spec?.taints);
}

/** Whether nothing is left to do for cordonNode. */
export function isCordoned({ spec = {} }: Node, { blockDaemonSets }: CordonOptions): boolean {
  return spec.unschedulable === true && (!blockDaemonSets || hasTaint(spec.taints));
}

/** Makes it so, and nothing else. Rejects with KubeError. */
export async function cordonNode(name: string, closing: CordonOptions, access: Access): Promise<void> {
  await changeNode(name, access, (node) => {
    if (isCordoned(node, closing)) return undefined;
    const { unschedulable = false, taints: existing = [] } = node.spec ?? {};
    return {
      metadata: unschedulable ? {} : { annotations: { [annotations.cordonedBy]: cordonedBy } },
      spec: {
        unschedulable: true,
        ...(closing.blockDaemonSets && !hasTaint(existing) ? { taints: [...existing, drainingTaint] } : {}),
      },
    };
  });
}

/** Takes back what cordonNode did. Whether the node is schedulable then. Rejects with KubeError. */
export async function uncordonNode(name: string, access: Access): Promise<boolean> {
  let isSchedulable = false;
  await changeNode(name, access, (node) => {
    const { unschedulable = false, taints: existing = [] } = node.spec ?? {};
    const isOurs = isCordonedByUs(node) || isCordonedByUpstream(node);
    isSchedulable = isOurs || !unschedulable;
    if (!isOurs && !hasDrainMarks(node)) return undefined;
    return {
      metadata: { annotations: { [annotations.cordonedBy]: null } },
      spec: {
        ...(isOurs ? { unschedulable: null } : {}),
        ...(hasTaint(existing) ? { taints: existing.filter(({ key }) => key !== taints.draining) } : {}),
      },
    };
  });
  return isSchedulable;
}

/** The value says who; the key alone counts. */
const cordonedBy = "drain";

const drainingTaint: Taint = { key: taints.draining, effect: "NoSchedule" };

function hasTaint(list: readonly Taint[] = []): boolean {
  return list.some(({ key }) => key === taints.draining);
}

function isCordonedByUs({ metadata }: Node): boolean {
  return metadata.annotations?.[annotations.cordonedBy] !== undefined;
}

/**
 * In a drain that upstream's operator had begun before it was replaced: it leaves no note, but the API server does. It
 * makes schedulable whatever it drained; what an admin has made unschedulable is not its field.
 */
function isCordonedByUpstream({ metadata: { managedFields = [] } }: KubeObject): boolean {
  return managedFields.some(({ manager, fieldsV1 }) => {
    const spec = isRecord(fieldsV1) ? fieldsV1["f:spec"] : undefined;
    return manager === upstreamManager && isRecord(spec) && Object.hasOwn(spec, "f:unschedulable");
  });
}

/** A merge patch of a Node. */
interface NodeChange {
  readonly metadata: object;
  readonly spec: object;
}

/**
 * Changes the Node as it is right now, and only if nobody writes it meanwhile: what an admin just did must not be taken
 * for ours, and its taints are one list. Its kubelet writes it, too, so that is tried a few times. One that is gone needs
 * no change.
 */
async function changeNode(
  name: string,
  { transport, signal }: Access,
  change: (node: Node & KubeObject) => NodeChange | undefined,
): Promise<void> {
  const path = objectPath(nodes, { name });
  for (let attempt = 1; ; attempt++) {
    try {
      const node = await transport.request({ method: "GET", path, signal });
      if (!isKubeObject(node) || !isNode(node)) throw new KubeError(`GET ${path}`, "UnexpectedResponse");
      const wanted = change(node);
      if (wanted === undefined) return;
      const { uid, resourceVersion } = node.metadata;
      const body = { metadata: { uid, resourceVersion, ...wanted.metadata }, spec: wanted.spec };
      const contentType = "application/merge-patch+json";
      await transport.request({ method: "PATCH", path, contentType, accept: metadataOnly, body, signal });
      return;
    } catch (error) {
      if (isKubeError(error, "NotFound")) return;
      if (!isKubeError(error, "Conflict") || attempt === maxAttempts) throw error;
    }
  }
}

const maxAttempts = 5;

function isNode(object: KubeObject): object is Node & KubeObject {
  return object.apiVersion === "v1" && object.kind === "Node";
}
