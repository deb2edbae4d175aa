// SPDX-License-Identifier: Apache-2.0
/**
 * nodeViews describes the nodes of a cluster for the overview and the drawings of their cards.
 * Usage: `nodeViews(snapshot, { rows: listVfs(snapshot), columns: mergedColumns, isEmptyShown: true, results })`.
 */
import { annotations, drainAnswers, drainRequests, type SriovNetworkNodeState } from "@switchyard/api";
import type { ObjectResult } from "../diagnosis/diagnose.ts";
import type { VfRow } from "../diagnosis/list-vfs.ts";
import type { Snapshot } from "../diagnosis/snapshot.ts";
import { clip } from "./clip.ts";
import { pfViews, type Column } from "./pf-views.ts";
import type { Fact, NodeHealth, NodeView } from "./report.ts";

export interface NodeViewOptions {
  readonly rows: readonly VfRow[];
  readonly columns: readonly Column[];
  /** Whether nodes and PFs without rows are shown. */
  readonly isEmptyShown: boolean;
  /** The results of a diagnosis; without them, the state of a node is what its daemon reports. */
  readonly results?: readonly ObjectResult[];
}

const order: readonly NodeHealth[] = ["error", "warning", "unknown", "info", "healthy"];

/** Nodes with errors first, then by name. */
export function nodeViews(snapshot: Snapshot, options: NodeViewOptions): readonly NodeView[] {
  const rows = Map.groupBy(options.rows, ({ node }) => node);
  const results = new Map(
    options.results?.filter(({ object }) => object.kind === "Node").map((result) => [result.object.name, result]),
  );
  const names = new Set([...snapshot.nodes.keys(), ...snapshot.cluster.states.keys(), ...results.keys()]);
  return [...names]
    .filter((name) => options.isEmptyShown || rows.has(name))
    .sort()
    .map((name) => nodeView(name, { snapshot, options, rows: rows.get(name) ?? [], result: results.get(name) }))
    .sort((a, b) => order.indexOf(a.health) - order.indexOf(b.health));
}

interface OfNode {
  readonly snapshot: Snapshot;
  readonly options: NodeViewOptions;
  readonly rows: readonly VfRow[];
  readonly result: ObjectResult | undefined;
}

function nodeView(name: string, { snapshot, options, rows, result }: OfNode): NodeView {
  const state = snapshot.cluster.states.get(name);
  const health = healthOf(state, result);
  const codes = result?.codes ?? [];
  return {
    ...{ name: clip(name), health, codes },
    words: codes.length > 0 ? codes.join(", ") : wordsOf[health],
    facts: factsOf(state, snapshot.nodes.get(name)?.isUnschedulable === true),
    pfs: pfViews(state?.status?.interfaces ?? [], rows, options),
  };
}

const wordsOf: Readonly<Record<NodeHealth, string>> = {
  error: "failed",
  warning: "needs attention",
  info: "in progress",
  healthy: "healthy",
  unknown: "nothing reported",
};

/** A node whose daemon has reported nothing is healthy only if the diagnosis expects no report. */
function healthOf(state: SriovNetworkNodeState | undefined, result: ObjectResult | undefined): NodeHealth {
  if (result !== undefined && result.result !== "healthy") return result.result;
  switch (state?.status?.syncStatus) {
    case "Succeeded":
      return "healthy";
    case "Failed":
      return "error";
    case undefined:
    case "":
      return "unknown";
    default:
      return "info";
  }
}

function factsOf(state: SriovNetworkNodeState | undefined, isUnschedulable: boolean): readonly Fact[] {
  const { syncStatus = "", lastSyncError = "" } = state?.status ?? {};
  return [
    ...(syncStatus === "" ? [] : [{ label: "Synchronisation", value: clip(syncStatus) }]),
    ...(lastSyncError === "" ? [] : [{ label: "Error", value: clip(lastSyncError) }]),
    ...drainFact(state?.metadata.annotations ?? {}),
    ...(isUnschedulable ? [{ label: "Scheduling", value: "cordoned" }] : []),
  ];
}

function drainFact(present: Readonly<Record<string, string>>): readonly Fact[] {
  const request = present[annotations.desiredState] ?? drainRequests.idle;
  if (request === drainRequests.idle) return [];
  const answer = present[annotations.currentState];
  const value =
    answer === drainAnswers.draining
      ? "pods are being evicted"
      : answer === drainAnswers.complete
        ? "drained, being configured"
        : "waits to be drained";
  return [{ label: "Drain", value }];
}
