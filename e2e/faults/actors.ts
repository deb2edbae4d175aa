// SPDX-License-Identifier: Apache-2.0
/**
 * Everybody but the operator: users who apply and delete, and nodes. They speak to the API server directly and are never
 * disturbed.
 * Usage: `await actors.nodes.add("worker-1"); await actors.apply(policies, { metadata, spec }); await actors.delete(…);`
 */
import {
  apiVersionOf,
  collectionPath,
  isKubeError,
  objectPath,
  type ObjectName,
  type ResourceType,
  type Transport,
} from "@switchyard/kube";
import type { FakeNodes } from "./fake-nodes.ts";
import { pods } from "./types.ts";

export interface Actors {
  readonly nodes: FakeNodes;
  /** As a user, by server-side apply: what an earlier apply had and this one has not goes. */
  apply(type: ResourceType, object: UserObject): Promise<void>;
  /** As a user; that it is not there is fine. */
  delete(type: ResourceType, name: ObjectName): Promise<void>;
  /** A pod that holds one of `resource`, on this node: a scheduler's and a kubelet's work. */
  startPod(metadata: UserObject["metadata"], nodeName: string, resource: string): Promise<void>;
}

export interface UserObject {
  readonly metadata: ObjectName & { readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

export function createActors(transport: Transport, nodes: FakeNodes): Actors {
  return {
    nodes,
    async apply(type, object) {
      await transport.request({
        method: "PATCH",
        path: objectPath(type, object.metadata),
        query: { fieldManager: "user", force: true },
        contentType: "application/apply-patch+yaml",
        body: { apiVersion: apiVersionOf(type), kind: type.kind, ...object },
      });
    },
    async delete(type, name) {
      try {
        await transport.request({ method: "DELETE", path: objectPath(type, name) });
      } catch (error) {
        if (!isKubeError(error, "NotFound")) throw error;
      }
    },
    async startPod(metadata, nodeName, resource) {
      const resources = { requests: { [resource]: "1" }, limits: { [resource]: "1" } };
      const spec = { nodeName, containers: [{ name: "app", image: "registry.example/app:1", resources }] };
      const body = { apiVersion: "v1", kind: "Pod", metadata, spec };
      await transport.request({ method: "POST", path: collectionPath(pods, metadata.namespace), body });
    },
  };
}
