// SPDX-License-Identifier: Apache-2.0
export { connect, type ConnectOptions } from "./connect/connect.ts";
export type { ServiceAddress } from "./connect/in-cluster.ts";
export { trustPublicAuthorities } from "./http/connections.ts";
export { watchRefusals, type WatchedTransport } from "./http/watch-refusals.ts";
export type { HttpTransportOptions } from "./http/http-transport.ts";
export {
  metadataOnly,
  type ContentType,
  type Query,
  type Transport,
  type TransportRequest,
  type WatchEvent,
  type WatchRequest,
  collectionPath,
  objectPath,
} from "./http/transport.ts";
export { KubeError, isKubeError, type KubeErrorDetails, type OwnCode, type StatusCause } from "./http/kube-error.ts";
export {
  apiVersionOf,
  isKubeObject,
  isRecord,
  recordAt,
  keyOf,
  type KubeObject,
  type ManagedFieldsEntry,
  type ObjectMeta,
  type ObjectName,
  type OwnerReference,
  type ResourceType,
} from "./kube-object.ts";
export { listPages, type ListRequest, type Page } from "./http/list-pages.ts";
export { reflect, type ReflectorOptions } from "./cache/reflector.ts";
export { createServedGroups, type ServedGroups } from "./cache/served-groups.ts";
export { type Cache, type CacheChange, type Observations, type ObservedObject, isBehind } from "./cache/cache.ts";
export { FreshnessClock, whenFresh, type HasAge, type CacheAge, type FailedWatch } from "./cache/cache-age.ts";
export { ObjectStore, type ObjectSink, type StoreOptions } from "./cache/object-store.ts";
export type { Indexers } from "./cache/object-index.ts";
export { joinWatches, type JoinedWatches, watchObjects, type WatchOptions } from "./cache/watch-objects.ts";
export {
  fromCache,
  type Source,
  startController,
  type Controller,
  type ControllerMetrics,
  type ControllerOptions,
  type FailedReconcile,
  type Freshness,
  type Outcome,
  type Reconcile,
  type Requeue,
} from "./controller/controller.ts";
export { createKnownRefusals, type KnownRefusals } from "./controller/known-refusals.ts";
export type { Interference } from "./write/other-managers.ts";
export { createWriter, type ApplyOptions, type WriteResult, type Writer, type WriterOptions } from "./write/writer.ts";
export type { Intent, IntentMetadata, StatusIntent } from "./write/intent.ts";
export { ownsAnnotation } from "./cache/owned-fields.ts";
export { patchMetadata, type MetadataChanges, type MetadataPatch } from "./write/patch-metadata.ts";
export { removeFinalizer, type FinalizerRemoval } from "./write/remove-finalizer.ts";
export {
  maxMessageBytes,
  setCondition,
  recordedMs,
  setConditions,
  type Condition,
  type NewCondition,
  type SetConditionsOptions,
} from "./write/conditions.ts";
export { cutText } from "./json/texts.ts";
export { createServerTime } from "./http/server-time.ts";
export { systemClock, sleep, type Clock, backoffMs, type BackoffRange } from "./clock.ts";
export { equalJson, shareEqual, sharingEqual } from "./json/equal-json.ts";
export { runWhenLeading } from "./leadership/leader-election.ts";
export type { LeaderElectionOptions, Leadership, LeaseTimings } from "./leadership/leader-election-options.ts";
export type { LeaseName } from "./leadership/lease.ts";
export { createEventRecorder, type EventRecorder, type EventRecorderOptions } from "./events/event-recorder.ts";
export type { EventSource, EventToRecord } from "./events/render-event.ts";
