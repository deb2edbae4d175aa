// SPDX-License-Identifier: Apache-2.0
/** createPodClient does what `switchyard verify` does in a cluster with the rights of the user: it creates, reads and deletes its pods. */
import { labels, pods, sriovNetworkNodeStates, type SriovNetworkNodeState } from "@switchyard/api";
import { collectionPath, isKubeError, objectPath, type Transport } from "@switchyard/kube";
import { isJsonObject, listAt, textAt, type JsonObject } from "../json.ts";
import type { renderPod } from "./render-pod.ts";

export type VerifyPod = ReturnType<typeof renderPod>;

/** All methods reject with KubeError. */
export interface PodClient {
  create(pod: VerifyPod): Promise<void>;
  /** The pods of `switchyard verify` in a namespace; of one run if it is given. */
  list(namespace: string, run?: string): Promise<readonly JsonObject[]>;
  /** What the container has printed; empty if it has not started. */
  log(pod: PodName): Promise<string>;
  /** The events of a pod; none if the user may not list them. */
  events(pod: PodName): Promise<readonly unknown[]>;
  /** Succeeds if the pod does not exist. */
  delete(pod: PodName): Promise<void>;
  /** The current node state; undefined if it does not exist. */
  nodeState(name: string): Promise<SriovNetworkNodeState | undefined>;
}

export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

const eventType = { group: "", version: "v1", kind: "Event", plural: "events", namespaced: true } as const;
/** The program prints less than this. */
const maxLogBytes = 256 * 1024;

/** `namespace` is that of the operator. */
export function createPodClient(transport: Transport, namespace: string): PodClient {
  return {
    async create(pod) {
      await transport.request({ method: "POST", path: collectionPath(pods, pod.metadata.namespace), body: pod });
    },
    async list(home, run) {
      const labelSelector = run === undefined ? labels.verify : `${labels.verify}=${run}`;
      const path = collectionPath(pods, home);
      return listAt(await transport.request({ method: "GET", path, query: { labelSelector } }), "items").filter(
        isJsonObject,
      );
    },
    async log(pod) {
      try {
        const path = objectPath(pods, pod, "log");
        const query = { limitBytes: maxLogBytes };
        const text = await transport.request({ method: "GET", path, query, accept: "text/plain, application/json" });
        return typeof text === "string" ? text : "";
      } catch (error) {
        // BadRequest: the container has not started. InternalError: the kubelet does not answer, or has no container any more.
        if (isKubeError(error, "BadRequest", "NotFound", "InternalError")) return "";
        throw error;
      }
    },
    async events(pod) {
      const query = { fieldSelector: `involvedObject.name=${pod.name}` };
      try {
        return listAt(
          await transport.request({ method: "GET", path: collectionPath(eventType, pod.namespace), query }),
          "items",
        );
      } catch (error) {
        if (isKubeError(error, "Forbidden")) return [];
        throw error;
      }
    },
    async delete(pod) {
      try {
        await transport.request({ method: "DELETE", path: objectPath(pods, pod) });
      } catch (error) {
        if (!isKubeError(error, "NotFound")) throw error;
      }
    },
    async nodeState(name) {
      try {
        const state = await transport.request({
          method: "GET",
          path: objectPath(sriovNetworkNodeStates, { namespace, name }),
        });
        return isNodeState(state) ? state : undefined;
      } catch (error) {
        if (isKubeError(error, "NotFound", "Forbidden")) return undefined;
        throw error;
      }
    },
  };
}

/** The API server has validated the object. */
function isNodeState(value: unknown): value is SriovNetworkNodeState {
  return isJsonObject(value) && textAt(value, "kind") === sriovNetworkNodeStates.kind && isJsonObject(value["spec"]);
}
