// SPDX-License-Identifier: Apache-2.0
/**
 * Event objects (events.k8s.io/v1) as the API server takes them: it refuses what is too long, a reporting controller
 * that is no qualified name, and an event whose namespace is not that of the object.
 * Usage: `const body = renderEvent(news, source, "worker-0.18f2", times)`.
 */
import { cutText } from "../json/cut-text.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../kube-object.ts";

/** What happened to an object. */
export interface News {
  /** With its uid, or `kubectl describe` does not find the event. */
  readonly regarding: KubeObject;
  readonly type: "Normal" | "Warning";
  /** One CamelCase word that programs can look for: "DrainStarted". */
  readonly reason: string;
  /** A sentence for people; what is over 1,024 bytes is cut. */
  readonly note: string;
  /** What was being done, one CamelCase word; "StatusChange" unless given. */
  readonly action?: string;
}

/** Who tells. */
export interface EventSource {
  /** A qualified name: "switchyard-operator", or with a domain before "/". */
  readonly controller: string;
  /** Of this process: the pod's or the node's name. */
  readonly instance: string;
}

export const eventType: ResourceType = {
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
};

/** What tells one Event from the next of the same news. */
export interface EventMark {
  /** Lower case letters and digits; another one for each Event. */
  readonly suffix: string;
  /** When it happened first: RFC 3339 with microseconds. */
  readonly eventTime: string;
}

export type EventBody = ReturnType<typeof renderEvent>;

/** The Event to create. Holds a reference to the object, not the object. */
export function renderEvent(news: News, source: EventSource, { suffix, eventTime }: EventMark) {
  const { regarding, type, reason, note, action = "StatusChange" } = news;
  const { apiVersion, kind, metadata } = regarding;
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion: apiVersionOf(eventType),
    kind: eventType.kind,
    metadata: {
      name: `${asSubdomain(name)}.${suffix}`,
      namespace: namespace ?? "default", // of objects without any
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

/** What it is about, as text. */
export function objectOf({ regarding: { kind, namespace, name, uid } }: EventBody): string {
  return [kind, namespace, name, uid].filter((part) => part !== undefined).join("/");
}

/** The same for news that says the same. */
export function newsKey(body: EventBody): string {
  return JSON.stringify([objectOf(body), body.type, body.reason, body.action, body.note]);
}

/** Whether the API server takes `name` as a reporting controller; a blank in it loses every event (sriov-operator.md M-48). */
export function isQualifiedName(name: string): boolean {
  const [last = "", ...before] = name.split("/").reverse();
  const hasDomain = before.length === 1 && before.every((domain) => domain.length <= 253 && subdomain.test(domain));
  return (before.length === 0 || hasDomain) && last.length <= 63 && /^[a-z\d]([-\w.]*[a-z\d])?$/i.test(last);
}

const subdomain = /^[a-z\d]([-a-z\d]*[a-z\d])?(\.[a-z\d]([-a-z\d]*[a-z\d])?)*$/;

// An event's name is a DNS subdomain, which some objects' names are not ("system:node"). 220 leaves room for a suffix.
function asSubdomain(name: string): string {
  const cut = name.toLowerCase().slice(0, 220);
  return subdomain.test(cut) ? cut : cut.replace(/[^a-z\d]+/g, "-").replace(/^-|-$/g, "") || "event";
}
