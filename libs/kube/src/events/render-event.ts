// SPDX-License-Identifier: Apache-2.0
/**
 * renderEvent makes an Event object (events.k8s.io/v1) that passes the API server's validation. The API server rejects
 * texts that are too long, a reporting controller that is not a qualified name, and an Event outside the namespace of its
 * object.
 * Usage: `renderEvent(news, { controller: "switchyard-operator", instance: podName }, { suffix: "18f2", eventTime })`.
 */
import { cutText } from "../json/texts.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../kube-object.ts";

/** An event to record: something that happened to an object. */
export interface EventToRecord {
  /** The object. It needs its uid, or `kubectl describe` does not find the Event. */
  readonly regarding: KubeObject;
  readonly type: "Normal" | "Warning";
  /** CamelCase word for programs: "DrainStarted". */
  readonly reason: string;
  /** Sentence for people; cut to 1,024 bytes. */
  readonly note: string;
  /** CamelCase word for the action; "StatusChange" by default. */
  readonly action?: string;
}

/** The component that reports events. */
export interface EventSource {
  /** Qualified name: "switchyard-operator", or with a domain and a slash before it. */
  readonly controller: string;
  /** Name of the pod or node of this process. */
  readonly instance: string;
}

export const eventType: ResourceType = {
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
};

/** Makes the name of an Event unique. */
export interface EventMark {
  /** Lower-case letters and digits, different for each Event. */
  readonly suffix: string;
  /** Time of the first occurrence: RFC 3339 with microseconds. */
  readonly eventTime: string;
}

export type EventBody = ReturnType<typeof renderEvent>;

/** Returns the Event to create. It holds a reference to the object, not the object itself. */
export function renderEvent(news: EventToRecord, source: EventSource, { suffix, eventTime }: EventMark) {
  const { regarding, type, reason, note, action = "StatusChange" } = news;
  const { apiVersion, kind, metadata } = regarding;
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion: apiVersionOf(eventType),
    kind: eventType.kind,
    metadata: {
      name: `${asSubdomain(name)}.${suffix}`,
      namespace: namespace ?? "default", // for cluster-scoped objects
    },
    regarding: { apiVersion, kind, name, namespace, uid, resourceVersion },
    type,
    reason,
    action,
    note: cutText(note, 1024),
    eventTime,
    reportingController: source.controller,
    reportingInstance: cutText(source.instance, 128),
  };
}

/** Returns kind, namespace, name and uid of the object as one text. */
export function objectOf({ regarding: { kind, namespace, name, uid } }: EventBody): string {
  return [kind, namespace, name, uid].filter((part) => part !== undefined).join("/");
}

/** Returns a key that is equal for repetitions of an event. */
export function eventKey(body: EventBody): string {
  return JSON.stringify([objectOf(body), body.type, body.reason, body.action, body.note]);
}

/** Reports whether the API server accepts `name` as reporting controller. Upstream's has a blank (sriov-operator.md M-48). */
export function isQualifiedName(name: string): boolean {
  const [last = "", ...before] = name.split("/").reverse();
  const hasDomain = before.length === 1 && before.every((domain) => domain.length <= 253 && subdomain.test(domain));
  return (before.length === 0 || hasDomain) && last.length <= 63 && /^[a-z\d]([-\w.]*[a-z\d])?$/i.test(last);
}

const subdomain = /^[a-z\d]([-a-z\d]*[a-z\d])?(\.[a-z\d]([-a-z\d]*[a-z\d])?)*$/;

// The name of an Event must be a DNS subdomain. Some objects have other names ("system:node"). 220 leaves room for a suffix.
function asSubdomain(name: string): string {
  const cut = name.toLowerCase().slice(0, 220);
  return subdomain.test(cut) ? cut : cut.replace(/[^a-z\d]+/g, "-").replace(/^-|-$/g, "") || "event";
}
