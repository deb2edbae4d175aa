// SPDX-License-Identifier: Apache-2.0
/**
 * createEventRecorder makes a recorder for Events (events.k8s.io/v1), which `kubectl describe` shows. Recording costs the
 * caller nothing: it never waits and never throws. A repeated event increases the count of the first Event, with at most
 * one write per minute. The number of writes per object and the memory are limited, so events can be lost: nothing may
 * depend on them.
 * RBAC: create and patch events.events.k8s.io in the namespaces of the objects ("default" for cluster-scoped objects).
 * Usage: `recorder.record({ regarding: state, type: "Warning", reason: "DrainStuck", note: "2 pods cannot be evicted" })`.
 */
import { EventQueue, type EventQueueOptions } from "./event-queue.ts";
import { isQualifiedName, type News } from "./render-event.ts";

export type EventRecorderOptions = EventQueueOptions;

/** Disposing it writes the remaining events, for at most two seconds. */
export interface EventRecorder extends AsyncDisposable {
  /** Records an event. Returns at once and never throws. */
  record(news: News): void;
}

/** Throws RangeError if the controller's name is not a qualified name: the API server would reject all its events. */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  if (!isQualifiedName(options.controller)) {
    throw new RangeError(`invalid reporting controller "${options.controller}": it must be a qualified name`);
  }
  return new EventQueue(options);
}
