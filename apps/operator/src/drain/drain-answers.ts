// SPDX-License-Identifier: Apache-2.0
/**
 * The operator's side of the handshake as it is written: annotations on NodeStates (sriov-operator.md G).
 * Usage: `if (!(await answers.swap(state, { from: "Draining", to: "DrainComplete" }, signal))) return soon;`
 */
import { annotations, sriovNetworkNodeStates, type DrainAnswer, type SriovNetworkNodeState } from "@switchyard/api";
import {
  collectionPath,
  isKubeError,
  isKubeObject,
  isRecord,
  KubeError,
  metadataOnly,
  objectPath,
  type Observed,
  type Transport,
} from "@switchyard/kube";
import { toDrainFacts, type DrainFacts } from "./drain-facts.ts";

/** A NodeState that is answered. */
export interface AnsweredState {
  readonly name: string;
  readonly uid: string;
  /** annotations.desiredState, where the answer is to that alone. */
  readonly desired?: string;
}

/** A step of the handshake. */
export interface Swap {
  readonly from: DrainAnswer;
  readonly to: DrainAnswer;
}

export interface DrainAnswers {
  /**
   * Writes the answer if all still stands as it is believed, and tells the NodeState's resourceVersion then; undefined if it
   * does not, or its object is another one by now. So each step of the handshake happens once, whoever believes that it is
   * his to take. Rejects with KubeError.
   */
  swap(state: AnsweredState, step: Swap, signal: AbortSignal): Promise<string | undefined>;
  /** The annotations of one NodeState as they are right now; undefined if it is gone. Rejects with KubeError. */
  read(state: Pick<AnsweredState, "name" | "uid">, signal: AbortSignal): Promise<DrainFacts | undefined>;
  /** The annotations of all NodeStates as they are right now, by name, with their resourceVersions. Rejects with KubeError. */
  list(signal: AbortSignal): Promise<ReadonlyMap<string, DrainFacts & { readonly version: string }>>;
  /**
   * Writes "Idle" in these annotations of a NodeState. Writes nothing, and resolves with false, if it is no longer as
   * `seen`: a daemon may have asked for something meanwhile. Rejects with KubeError.
   */
  makeIdle(which: readonly string[], seen: Seen, signal: AbortSignal): Promise<boolean>;
}

/** An object as the cache has it. */
export type Seen = Pick<Observed, "uid" | "resourceVersion"> & { readonly name: string };

export function createDrainAnswers(transport: Transport, namespace: string): DrainAnswers {
  /** Answers the resourceVersion that it made. */
  async function patch(name: string, body: unknown, signal: AbortSignal): Promise<string> {
    const answer = await transport.request({
      method: "PATCH",
      path: objectPath(sriovNetworkNodeStates, { name, namespace }),
      contentType: Array.isArray(body) ? "application/json-patch+json" : "application/merge-patch+json",
      accept: metadataOnly,
      body,
      signal,
    });
    return isKubeObject(answer) ? (answer.metadata.resourceVersion ?? "") : "";
  }

  return {
    async swap({ name, uid, desired }, { from, to }, signal) {
      const operations = [
        { op: "test", path: "/metadata/uid", value: uid },
        ...(desired === undefined
          ? []
          : [{ op: "test", path: annotationPath(annotations.desiredState), value: desired }]),
        { op: "test", path: annotationPath(annotations.currentState), value: from },
        { op: "replace", path: annotationPath(annotations.currentState), value: to },
      ];
      try {
        return await patch(name, operations, signal);
      } catch (error) {
        if (isKubeError(error) && (isFailedTest(error) || isKubeError(error, "NotFound"))) return undefined;
        throw error;
      }
    },

    async read({ name, uid }, signal) {
      const path = objectPath(sriovNetworkNodeStates, { name, namespace });
      try {
        const found = await transport.request({ method: "GET", path, accept: metadataOnly, signal });
        return hasMetadata(found) && found.metadata.uid === uid ? toDrainFacts(found) : undefined;
      } catch (error) {
        if (isKubeError(error, "NotFound")) return undefined;
        throw error;
      }
    },

    async list(signal) {
      const path = collectionPath(sriovNetworkNodeStates, namespace);
      const accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"; // the rest is large
      const body = await transport.request({ method: "GET", path, accept, signal });
      const items: unknown = isRecord(body) ? (body["items"] ?? []) : undefined;
      if (!Array.isArray(items) || !items.every(hasMetadata)) {
        throw new KubeError(`GET ${path}`, "UnexpectedResponse");
      }
      return new Map(
        items.map(({ metadata }) => [
          metadata.name,
          { ...toDrainFacts({ metadata }), version: metadata.resourceVersion ?? "" },
        ]),
      );
    },

    async makeIdle(which, { name, uid, resourceVersion }, signal) {
      const idle = Object.fromEntries(which.map((annotation) => [annotation, "Idle"]));
      try {
        await patch(name, { metadata: { uid, resourceVersion, annotations: idle } }, signal);
        return true;
      } catch (error) {
        if (isKubeError(error, "Conflict", "NotFound")) return false;
        throw error;
      }
    },
  };
}

/** The API server has the same word for an object that its schema refuses; then it names fields. */
function isFailedTest(error: KubeError): boolean {
  return error.code === "Invalid" && (error.details?.causes ?? []).every(({ field }) => field === undefined);
}

/** RFC 6901. */
function annotationPath(annotation: string): string {
  return `/metadata/annotations/${annotation.replace("/", "~1")}`;
}

/** An object, or an item of a list, that was asked for metadata alone. */
function hasMetadata(item: unknown): item is Pick<SriovNetworkNodeState, "metadata"> {
  return isRecord(item) && isRecord(item["metadata"]) && typeof item["metadata"]["name"] === "string";
}
