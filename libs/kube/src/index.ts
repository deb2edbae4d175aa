// SPDX-License-Identifier: Apache-2.0
export type { Transport, TransportRequest, WatchRequest, WatchEvent, ContentType, Query } from "./transport.ts";
export { KubeError, isKubeError, type KubeErrorDetails, type OwnCode } from "./kube-error.ts";
export { collectionPath, objectPath } from "./resource-path.ts";
export {
  apiVersionOf,
  isKubeObject,
  isRecord,
  keyOf,
  type KubeObject,
  type ManagedFieldsEntry,
  type ObjectMeta,
  type ObjectName,
  type OwnerReference,
  type ResourceType,
} from "./kube-object.ts";
