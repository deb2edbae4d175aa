// SPDX-License-Identifier: Apache-2.0
/**
 * Tells people what happens to objects, as Events (events.k8s.io/v1) that `kubectl describe` shows. To tell costs the
 * caller nothing: it never waits and never throws. The same news again is counted on the first Event, once in a minute;
 * an object that has much news is cut short; memory is bounded. Events can be lost, so nothing may depend on them.
 * RBAC: create and patch events.events.k8s.io in the objects' namespaces ("default" for those without one).
 * Usage: `recorder.record({ regarding: state, type: "Warning", reason: "DrainStuck", note: "2 pods cannot be evicted" })`.
 */
import type { Clock } from "../clock.ts";
import { isQualifiedName, type EventSource, type News } from "./event-object.ts";
import { Recorder } from "./recorder.ts";
import type { Transport } from "../http/transport.ts";

export interface EventRecorderOptions extends EventSource {
  readonly transport: Transport;
  /** Told of what was lost and of an API server that takes nothing, once a minute at most. */
  readonly report: (error: unknown) => void;
  readonly clock?: Clock;
  /** The wall clock. */
  readonly now?: () => Date;
  /** In [0, 1). */
  readonly random?: () => number;
}

/** Disposing it writes what is left, for two seconds at most. */
export interface EventRecorder extends AsyncDisposable {
  /** Returns at once and never throws. */
  record(news: News): void;
}

/** Throws RangeError if the API server would refuse all events of this controller. */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  if (!isQualifiedName(options.controller)) {
    throw new RangeError(`"${options.controller}" is no qualified name: the API server would refuse all its events`);
  }
  return new Recorder(options);
}
