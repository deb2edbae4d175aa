// SPDX-License-Identifier: Apache-2.0
/** DrainAnswers reads and writes the annotations of the drain handshake on node states (sriov-operator.md G). */
import {
  afxdpNetworkNodeStates,
  annotations,
  drainRequests,
  sriovNetworkNodeStates,
  type DrainAnswer,
  type ObjectMeta,
} from "@switchyard/api";
import {
  collectionPath,
  isKubeError,
  isKubeObject,
  isRecord,
  KubeError,
  metadataOnly,
  objectPath,
  type ObservedObject,
  type Transport,
} from "@switchyard/kube";
import { toCachedDrain, type CachedDrain } from "../facts/cached-drain.ts";
import type { DrainCarrier } from "./drain-carriers.ts";

/** The node state that is answered. */
export interface AnsweredState extends Pick<DrainCarrier, "type" | "name" | "uid"> {
  /** Expected value of annotations.desiredState, if the answer applies to this request only. */
  readonly desired?: string;
  /** Expected value of annotations.drainVfs, if the answer applies to these VFs only. */
  readonly vfs?: string;
}

/** A step of the handshake: the expected and the new value of annotations.currentState. */
export interface Swap {
  readonly from: DrainAnswer;
  readonly to: DrainAnswer;
}

export interface DrainAnswers {
  /**
   * Writes the answer if uid, request and answer are still as expected, and returns the new resourceVersion. Returns
   * undefined, without writing, if they are not. So each step happens once, even if two replicas try it. Rejects with
   * KubeError.
   */
  swap(state: AnsweredState, step: Swap, signal: AbortSignal): Promise<string | undefined>;
  /** Reads the annotations of one state from the API server; undefined if it is gone. Rejects with KubeError. */
  read(state: Pick<AnsweredState, "type" | "name" | "uid">, signal: AbortSignal): Promise<CachedDrain | undefined>;
  /** Reads the annotations of all states from the API server. Rejects with KubeError. */
  list(signal: AbortSignal): Promise<readonly ListedHandshake[]>;
  /**
   * Sets these annotations to "Idle". Returns false, without writing, if the object has changed since it was `seen`,
   * because the daemon may have made a request meanwhile. Rejects with KubeError.
   */
  makeIdle(annotationKeys: readonly string[], seen: CachedIdentity, signal: AbortSignal): Promise<boolean>;
}

/** The handshake of one state. */
export interface ListedHandshake extends Pick<DrainCarrier, "name" | "uid"> {
  readonly facts: CachedDrain;
  /** resourceVersion of the state. */
  readonly version: string;
}

/** An object as the cache shows it. */
export type CachedIdentity = Pick<DrainCarrier, "type" | "name"> & Pick<ObservedObject, "uid" | "resourceVersion">;

export function createDrainAnswers(transport: Transport, namespace: string): DrainAnswers {
  /** Returns the resourceVersion of the patched object. */
  async function patch(
    { type, name }: Pick<DrainCarrier, "type" | "name">,
    body: unknown,
    signal: AbortSignal,
  ): Promise<string> {
    const answer = await transport.request({
      method: "PATCH",
      path: objectPath(type, { name, namespace }),
      contentType: Array.isArray(body) ? "application/json-patch+json" : "application/merge-patch+json",
      accept: metadataOnly,
      body,
      signal,
    });
    return isKubeObject(answer) ? (answer.metadata.resourceVersion ?? "") : "";
  }

  /** Lists the states of one kind; none if the API server does not serve it. */
  async function listHandshakes(type: DrainCarrier["type"], signal: AbortSignal): Promise<readonly ListedHandshake[]> {
    const path = collectionPath(type, namespace);
    const accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"; // statuses are large
    try {
      const body = await transport.request({ method: "GET", path, accept, signal });
      const items: unknown = isRecord(body) ? (body["items"] ?? []) : undefined;
      if (!Array.isArray(items) || !items.every(hasMetadata)) {
        throw new KubeError(`GET ${path}`, "UnexpectedResponse");
      }
      return items.map(({ metadata }) => {
        const { name, uid = "", resourceVersion: version = "" } = metadata;
        return { name, uid, version, facts: toCachedDrain({ metadata }) };
      });
    } catch (error) {
      if (isKubeError(error, "NotFound")) return [];
      throw error;
    }
  }

  return {
    async swap({ type, name, uid, desired, vfs }, { from, to }, signal) {
      const operations = [
        { op: "test", path: "/metadata/uid", value: uid },
        ...testOf(annotations.desiredState, desired),
        ...testOf(annotations.drainVfs, vfs),
        { op: "test", path: annotationPath(annotations.currentState), value: from },
        { op: "replace", path: annotationPath(annotations.currentState), value: to },
      ];
      try {
        return await patch({ type, name }, operations, signal);
      } catch (error) {
        if (isKubeError(error) && (isFailedTest(error) || isKubeError(error, "NotFound"))) return undefined;
        throw error;
      }
    },

    async read({ type, name, uid }, signal) {
      const path = objectPath(type, { name, namespace });
      try {
        const found = await transport.request({ method: "GET", path, accept: metadataOnly, signal });
        return hasMetadata(found) && found.metadata.uid === uid ? toCachedDrain(found) : undefined;
      } catch (error) {
        if (isKubeError(error, "NotFound")) return undefined;
        throw error;
      }
    },

    async list(signal) {
      const kinds = [sriovNetworkNodeStates, afxdpNetworkNodeStates];
      return (await Promise.all(kinds.map((type) => listHandshakes(type, signal)))).flat();
    },

    async makeIdle(annotationKeys, { type, name, uid, resourceVersion }, signal) {
      const idle = Object.fromEntries(annotationKeys.map((annotation) => [annotation, drainRequests.idle]));
      try {
        await patch({ type, name }, { metadata: { uid, resourceVersion, annotations: idle } }, signal);
        return true;
      } catch (error) {
        if (isKubeError(error, "Conflict", "NotFound")) return false;
        throw error;
      }
    },
  };
}

/**
 * The API server answers Invalid both for a failed test and for an object that its schema refuses, but names fields
 * only for the latter.
 */
function isFailedTest(error: KubeError): boolean {
  return error.code === "Invalid" && (error.details?.causes ?? []).every(({ field }) => field === undefined);
}

/** A test of a JSON patch; none if no value is expected. */
function testOf(annotation: string, value: string | undefined) {
  return value === undefined ? [] : [{ op: "test", path: annotationPath(annotation), value }];
}

/** Path of an annotation in a JSON patch, escaped as RFC 6901 requires. */
function annotationPath(annotation: string): string {
  return `/metadata/annotations/${annotation.replace("/", "~1")}`;
}

/** Recognises an object, or an item of a list, that was requested as metadata only. */
function hasMetadata(item: unknown): item is { readonly metadata: ObjectMeta } {
  return isRecord(item) && isRecord(item["metadata"]) && typeof item["metadata"]["name"] === "string";
}
