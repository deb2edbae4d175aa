// SPDX-License-Identifier: Apache-2.0
/**
 * nodeViews describes the nodes of a cluster for the overview and the drawings of their cards.
 * Usage: `nodeViews(snapshot, { rows: listVfs(snapshot), columns: mergedColumns, isEmptyShown: true, results })`.
 */
import {
  annotations,
  drainAnswers,
  drainRequests,
  type AfxdpNetworkNodeState,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import type { ObjectResult } from "../diagnosis/diagnose.ts";
import type { VfRow } from "../diagnosis/list-vfs.ts";
import type { Snapshot } from "../diagnosis/snapshot.ts";
import { pageText } from "../text.ts";
import { nodeTables } from "./node-tables.ts";
import { pfViews, type Column } from "./pf-views.ts";
import type { LabeledValue, NodeHealth, NodeView } from "./report.ts";

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
  const { states, afxdp } = snapshot.cluster;
  const names = new Set([...snapshot.nodes.keys(), ...states.keys(), ...afxdp.states.keys(), ...results.keys()]);
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
  const afxdp = snapshot.cluster.afxdp.states.get(name);
  const health = healthOf([state, afxdp], result);
  const codes = result?.codes ?? [];
  const isExamined = options.results !== undefined;
  return {
    name: pageText(name),
    health,
    codes,
    words: codes.length > 0 ? codes.join(", ") : health === "healthy" && !isExamined ? unexamined : wordsOf[health],
    facts: factsOf([state, afxdp], snapshot.nodes.get(name)?.isUnschedulable === true),
    pfs: pfViews(state?.status?.interfaces ?? [], rows, options),
    tables: options.isEmptyShown ? nodeTables(state, afxdp) : [],
  };
}

/** What a node is of which only its daemon's report is known. */
export const unexamined = "configured, not examined";

const wordsOf: Readonly<Record<NodeHealth, string>> = {
  error: "failed",
  warning: "needs attention",
  info: "in progress",
  healthy: "healthy",
  unknown: "nothing reported",
};

/** The states of a node for SR-IOV and for AF_XDP. */
type States = readonly [SriovNetworkNodeState | undefined, AfxdpNetworkNodeState | undefined];

/**
 * The worst of what the diagnosis and the daemon say. A node whose daemon has reported nothing is healthy only if the diagnosis
 * expects no report.
 */
function healthOf(states: States, result: ObjectResult | undefined): NodeHealth {
  if (result !== undefined && result.result !== "healthy") return result.result;
  const reported = states.flatMap((state) => (state?.status?.syncStatus ? [state.status.syncStatus] : []));
  if (reported.includes("Failed")) return "error";
  if (reported.length === 0) return "unknown";
  return reported.every((syncStatus) => syncStatus === "Succeeded") ? "healthy" : "info";
}

function factsOf(states: States, isUnschedulable: boolean): readonly LabeledValue[] {
  const [sriov, afxdp] = states;
  return [
    ...states.flatMap((state) => {
      const { syncStatus = "", lastSyncError = "" } = state?.status ?? {};
      const of = state === undefined || state === sriov ? "" : " of AF_XDP";
      return [
        ...(syncStatus === "" ? [] : [{ label: `Synchronisation${of}`, value: pageText(syncStatus) }]),
        ...(lastSyncError === "" ? [] : [{ label: `Error${of}`, value: pageText(lastSyncError) }]),
      ];
    }),
    ...drainFact((sriov ?? afxdp)?.metadata.annotations ?? {}),
    ...(isUnschedulable ? [{ label: "Scheduling", value: "cordoned" }] : []),
  ];
}

function drainFact(present: Readonly<Record<string, string>>): readonly LabeledValue[] {
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
