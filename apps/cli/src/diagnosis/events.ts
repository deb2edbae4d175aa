// SPDX-License-Identifier: Apache-2.0
/**
 * eventsOf finds the warnings that Kubernetes has recorded about an object, such as the scheduler's reason for a pending pod.
 */
import { conditionTypes, eventReasons } from "@switchyard/api";
import { at, listAt, textAt, type Manifest } from "../json.ts";
import type { ObjectRef } from "./finding.ts";
import { agoText, timeMs, type Snapshot } from "./snapshot.ts";

/** Lines for each object. */
const maxLines = 3;

/** A warning about an object. */
export interface Warning {
  readonly atMs: number;
  /** What was recorded: "0/2 nodes are available". */
  readonly text: string;
  /** The warning with its reason and time. */
  readonly line: string;
}

/**
 * Returns warnings with lines such as "event FailedScheduling (4 times, last 2026-01-05T10:00:00Z): 0/2 nodes are available", latest
 * first. What is over is left out: events before `sinceMs`, and errors of a node that has succeeded since.
 */
export function eventsOf(snapshot: Snapshot): (object: ObjectRef, sinceMs?: number) => readonly Warning[] {
  const succeeded = new Set(
    snapshot
      .objectsOf("SriovNetworkNodeState")
      .filter(hasSucceeded)
      .map(({ name }) => name),
  );
  const warnings = new Map<string, Warning[]>();
  for (const event of snapshot.objectsOf("Event")) {
    if (textAt(event.object, "type") !== "Warning") continue;
    const about = at(event.object, "involvedObject") ?? at(event.object, "regarding");
    const isOver =
      textAt(event.object, "reason") === eventReasons.syncFailed && succeeded.has(textAt(about, "name") ?? "");
    if (isOver) continue;
    const key = keyOf(about);
    const before = warnings.get(key);
    if (before === undefined) warnings.set(key, [warningOf(event, snapshot)]);
    else before.push(warningOf(event, snapshot));
  }
  return ({ kind, namespace = "", name }, sinceMs = -Infinity) =>
    (warnings.get(`${kind}\n${kind === "Node" ? "" : namespace}\n${name}`) ?? [])
      .filter(({ atMs }) => atMs === 0 || atMs >= sinceMs)
      .toSorted((a, b) => b.atMs - a.atMs)
      .slice(0, maxLines);
}

function hasSucceeded({ object }: Manifest): boolean {
  const fails = listAt(object, "status", "conditions").some((condition) => {
    return textAt(condition, "type") === conditionTypes.degraded && textAt(condition, "status") === "True";
  });
  return textAt(at(object, "status"), "syncStatus") === "Succeeded" && !fails;
}

/** The object is `involvedObject` in v1 and `regarding` in events.k8s.io/v1. */
function keyOf(about: unknown): string {
  const kind = textAt(about, "kind") ?? "";
  const namespace = kind === "Node" ? "" : (textAt(about, "namespace") ?? "");
  return `${kind}\n${namespace}\n${textAt(about, "name") ?? ""}`;
}

function warningOf({ object }: Manifest, snapshot: Snapshot): Warning {
  const series = at(object, "series");
  const last =
    textAt(series, "lastObservedTime") ??
    textAt(object, "lastTimestamp") ??
    textAt(object, "deprecatedLastTimestamp") ??
    textAt(object, "eventTime");
  const count = at(series, "count") ?? at(object, "count") ?? at(object, "deprecatedCount");
  const times = typeof count === "number" && count > 1 ? `${count} times, last ` : "";
  const text = textAt(object, "message") ?? textAt(object, "note") ?? "";
  return {
    atMs: timeMs(last) ?? 0,
    text,
    line: `event ${textAt(object, "reason") ?? ""} (${times}${last ?? "time unknown"}${agoText(last, snapshot)}): ${text}`,
  };
}
