// SPDX-License-Identifier: Apache-2.0
/**
 * offloadEvents returns the events about what has changed from one written status to the next. A status that was written is
 * read again after a restart, so nothing is told twice.
 */
import type { Condition, EventReason, OvnHardwareOffloadStatus, OvnOffloadNode } from "@switchyard/api";

/** What the status tells. */
export interface WrittenStatus {
  readonly pools: readonly OvnHardwareOffloadStatus[];
  /** The condition HardwareOffload. */
  readonly overall: Pick<Condition, "reason" | "message"> | undefined;
}

export interface OffloadEvent {
  /** The node that it is about; undefined if it is about a pool, or all of them. */
  readonly node?: string;
  readonly type: "Normal" | "Warning";
  readonly reason: EventReason;
  readonly note: string;
}

export function offloadEvents(before: WrittenStatus, after: WrittenStatus): readonly OffloadEvent[] {
  return [...overallEvents(before, after), ...poolEvents(before, after), ...nodeEvents(before, after)];
}

/** A problem of a pool is told by the event about the pool. */
function overallEvents(before: WrittenStatus, { overall, pools }: WrittenStatus): readonly OffloadEvent[] {
  const isNew = overall?.reason === "Degraded" && before.overall?.reason !== "Degraded";
  if (!isNew || pools.some((pool) => stateOf(pool) === "Degraded")) return [];
  return [warning("OvnOffloadDegraded", overall.message)];
}

function poolEvents(before: WrittenStatus, after: WrittenStatus): readonly OffloadEvent[] {
  const was = new Map(before.pools.map((pool) => [pool.pool, pool]));
  const is = new Set(after.pools.map(({ pool }) => pool));
  const events: OffloadEvent[] = [];
  for (const pool of after.pools) {
    const { pool: name, nodeCount } = pool;
    const old = was.get(name);
    if (old === undefined && !isLeaving(pool)) {
      events.push(
        normal(
          "OvnOffloadSelected",
          `pool ${name} is selected: OVN of its ${nodeCount} nodes moves to their SmartNICs`,
        ),
      );
    }
    if (isLeaving(pool) && (old === undefined || !isLeaving(old))) {
      events.push(
        normal("OvnOffloadLeaving", `pool ${name} is no longer selected: its ${nodeCount} nodes are being restored`),
      );
    }
    if (stateOf(pool) === "Degraded" && stateOf(old) !== "Degraded") {
      events.push(warning("OvnOffloadDegraded", `pool ${name}: ${messageOf(pool)}`));
    }
    if (stateOf(pool) === "Ready" && stateOf(old) !== "Ready") {
      events.push(normal("OvnOffloadReady", `pool ${name}: OVN of ${nodeCount} nodes runs on their SmartNICs`));
    }
  }
  for (const name of was.keys()) {
    if (!is.has(name)) events.push(normal("OvnOffloadRestored", `pool ${name}: all nodes are restored`));
  }
  return events;
}

function nodeEvents(before: WrittenStatus, after: WrittenStatus): readonly OffloadEvent[] {
  const [was, is] = [nodesOf(before), nodesOf(after)];
  // The largest pools are not listed completely: a node that is not listed can be a host.
  if (was === undefined || is === undefined) return [];
  const events: OffloadEvent[] = [];
  for (const [node, now] of is) {
    const old = was.get(node);
    if (isReady(now) && (old === undefined || !isReady(old))) {
      events.push({ node, ...normal("OvnOffloadHostReady", "OVN of the host runs on its SmartNIC") });
    }
    if (now.leaving === true && old?.leaving !== true) {
      const event = normal("OvnOffloadHostLeaving", "the host is no longer selected: OVN returns from its SmartNIC");
      events.push({ node, ...event });
    }
  }
  for (const node of was.keys()) {
    if (is.has(node)) continue;
    events.push({ node, ...normal("OvnOffloadHostRestored", "nothing of OVN on SmartNICs is left on the node") });
  }
  return events;
}

function normal(reason: EventReason, note: string): OffloadEvent {
  return { type: "Normal", reason, note };
}

function warning(reason: EventReason, note: string): OffloadEvent {
  return { type: "Warning", reason, note };
}

function nodesOf({ pools }: WrittenStatus): ReadonlyMap<string, OvnOffloadNode> | undefined {
  if (pools.some(({ nodeCount, nodes = [] }) => nodes.length < nodeCount)) return undefined;
  return new Map(pools.flatMap(({ nodes = [] }) => nodes.map((node) => [node.name, node] as const)));
}

function isReady({ missing }: OvnOffloadNode): boolean {
  return missing === undefined;
}

function isLeaving({ nodes = [] }: OvnHardwareOffloadStatus): boolean {
  return nodes.length > 0 && nodes.every(({ leaving }) => leaving === true);
}

function stateOf(pool: OvnHardwareOffloadStatus | undefined): string | undefined {
  return holding(pool)?.type;
}

function messageOf(pool: OvnHardwareOffloadStatus): string {
  return holding(pool)?.message ?? "";
}

/** Ready, Progressing or Degraded, the one that is True. */
function holding(pool: OvnHardwareOffloadStatus | undefined): Condition | undefined {
  return pool?.conditions?.find(({ type, status, reason }) => status === "True" && type === reason);
}
