// SPDX-License-Identifier: Apache-2.0
/**
 * cordonNode and uncordonNode set and remove what a drain changes on a Node: spec.unschedulable, an annotation that
 * records that the operator set it, and a taint that stops DaemonSets. uncordonNode removes only what this operator or
 * upstream's set, so a node that an administrator cordoned stays cordoned (sriov-operator.md M-13).
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

export interface CordonOptions {
  /** Whether to add the taint that stops DaemonSets from recreating their pods on the node. */
  readonly blockDaemonSets: boolean;
}

export interface Access {
  readonly transport: Pick<Transport, "request">;
  readonly signal: AbortSignal;
}

/** Reports whether the node has something for uncordonNode to remove. */
export function hasDrainMarks(node: Node): boolean {
  return isCordonedByUs(node) || hasTaint(node.spec?.taints);
}

/** Reports whether cordonNode has nothing to change. */
export function isCordoned({ spec = {} }: Node, { blockDaemonSets }: CordonOptions): boolean {
  return spec.unschedulable === true && (!blockDaemonSets || hasTaint(spec.taints));
}

/** Makes the node unschedulable. A node that is gone is ignored. Rejects with KubeError. */
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

/** Undoes cordonNode. Returns whether the node is schedulable afterwards. Rejects with KubeError. */
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

/** Value of annotations.cordonedBy. Only the key is evaluated. */
const cordonedBy = "drain";

const drainingTaint: Taint = { key: taints.draining, effect: "NoSchedule" };

function hasTaint(list: readonly Taint[] = []): boolean {
  return list.some(({ key }) => key === taints.draining);
}

function isCordonedByUs({ metadata }: Node): boolean {
  return metadata.annotations?.[annotations.cordonedBy] !== undefined;
}

/**
 * Reports whether upstream's operator cordoned the node in a drain that it began before it was replaced. It sets no
 * annotation, but managedFields name it as the owner of spec.unschedulable. If an administrator cordoned the node, the
 * field has another owner.
 */
function isCordonedByUpstream({ metadata: { managedFields = [] } }: KubeObject): boolean {
  return managedFields.some(({ manager, fieldsV1 }) => {
    const spec = isRecord(fieldsV1) ? fieldsV1["f:spec"] : undefined;
    return manager === upstreamManager && isRecord(spec) && Object.hasOwn(spec, "f:unschedulable");
  });
}

/** Parts of a merge patch for a Node. */
interface NodeChange {
  readonly metadata: object;
  readonly spec: object;
}

/**
 * Reads the Node and patches it with its resourceVersion, so that a concurrent cordon by an administrator is not
 * mistaken for the operator's and no taint is lost from the list. The kubelet writes the Node, too, so conflicts are
 * retried a few times. A Node that is gone needs no change.
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
