// SPDX-License-Identifier: Apache-2.0
export { connect, type ConnectOptions } from "./connect.ts";
export type { HttpTransportOptions } from "./http-transport.ts";
export {
  metadataOnly,
  type ContentType,
  type Query,
  type Transport,
  type TransportRequest,
  type WatchEvent,
  type WatchRequest,
} from "./transport.ts";
export { KubeError, isKubeError, type KubeErrorDetails, type OwnCode, type StatusCause } from "./kube-error.ts";
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
export { listPages, type ListRequest, type Page } from "./list-pages.ts";
export { reflect, type ReflectorOptions } from "./reflector.ts";
export type { Cache, Change, Observations, Observed } from "./cache.ts";
export { HeardClock, staleAmong, whenFresh, type Ageing, type CacheAge, type FailedWatch } from "./cache-age.ts";
export { ObjectStore, type ObjectSink, type StoreOptions } from "./object-store.ts";
export type { Indexers } from "./object-index.ts";
export { joinWatches, type JoinedWatches } from "./join-watches.ts";
export { watchObjects, type WatchOptions } from "./watch-objects.ts";
export { WorkQueue, type WorkQueueOptions } from "./work-queue.ts";
export { fromCache, type Source } from "./source.ts";
export {
  startController,
  type Controller,
  type ControllerMetrics,
  type ControllerOptions,
  type FailedReconcile,
  type Freshness,
  type Outcome,
  type Reconcile,
  type Requeue,
} from "./controller.ts";
export { createWriter, type ApplyOptions, type WriteResult, type Writer, type WriterOptions } from "./apply.ts";
export type { Intent, IntentMetadata, StatusIntent } from "./intent.ts";
export { patchMetadata, type MetadataChanges, type MetadataPatch } from "./patch-metadata.ts";
export { addFinalizer, removeFinalizer, type FinalizerChange } from "./finalizers.ts";
export { maxMessageBytes, setCondition, type Condition } from "./conditions.ts";
export { cutText } from "./cut-text.ts";
export { systemClock, sleep, type Clock } from "./clock.ts";
export { backoffMs, type BackoffRange } from "./backoff.ts";
export { equalJson } from "./equal-json.ts";
export { shareEqual, sharingEqual } from "./share-equal.ts";
export { linkAbort, type LinkedAbort } from "./linked-abort.ts";
export { runWhenLeading } from "./leader-election.ts";
export {
  defaultLeaseTimings,
  type LeaderElectionOptions,
  type Leadership,
  type LeaseTimings,
} from "./leader-election-options.ts";
export { guardTransport } from "./leader-election-guard.ts";
export type { LeaseName } from "./leader-election-lease.ts";
export { createEventRecorder, type EventRecorder, type EventRecorderOptions } from "./events.ts";
export type { EventSource, News } from "./events-object.ts";
export { microTime } from "./micro-time.ts";
export { isBehind } from "./resource-version.ts";
