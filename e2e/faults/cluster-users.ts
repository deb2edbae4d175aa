// SPDX-License-Identifier: Apache-2.0
/**
 * ClusterUsers acts in a cluster as everything except the operator: users that apply and delete objects, and nodes. They
 * connect to the API server directly, without faults.
 */
import { pods } from "@switchyard/api";
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

export interface ClusterUsers {
  readonly nodes: FakeNodes;
  /** Applies an object by server-side apply, which removes fields that an earlier apply had set. */
  apply(type: ResourceType, object: UserObject): Promise<void>;
  /** Deletes an object; succeeds if it does not exist. */
  delete(type: ResourceType, name: ObjectName): Promise<void>;
  /** Creates a running pod with one `resource` on this node, as a scheduler and a kubelet do. */
  startPod(metadata: UserObject["metadata"], nodeName: string, resource: string): Promise<void>;
}

export interface UserObject {
  readonly metadata: ObjectName & { readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

export function createClusterUsers(transport: Transport, nodes: FakeNodes): ClusterUsers {
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
