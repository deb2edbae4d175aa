// SPDX-License-Identifier: Apache-2.0
/**
 * Nodes whose daemon fails or is silent, also as the Go operator leaves them: it has no conditions on node states, and its
 * daemon never reports Failed.
 */
import { annotations, type SriovNetworkNodeState } from "@switchyard/api";
import { isInNodeSet } from "@switchyard/policy";
import { listAt } from "../../json.ts";
import { findingOf, placesOf, type Finding } from "../finding.ts";
import { lastStatusWriteMs, timeMs, type Snapshot } from "../snapshot.ts";

const progressLimitMs = 15 * 60_000;
const bootLimitMs = 5 * 60_000;

export function findNodes(snapshot: Snapshot): readonly Finding[] {
  const { cluster, rules, states } = snapshot;
  const missing = cluster.nodes
    .filter((node) => snapshot.isKnown("SriovNetworkNodeState") && isInNodeSet(node, rules))
    .filter(({ metadata }) => !cluster.states.has(metadata.name))
    .map(({ metadata }) =>
      findingOf("NodeStateMissing", {
        object: { kind: "Node", name: metadata.name },
        message: "the node is in the node set and has no SriovNetworkNodeState",
        evidence: [`the node has the labels ${labelText(rules.nodeSet)}`],
        values: { operatorNamespace: snapshot.namespace },
      }),
    );
  return [
    ...(cluster.operatorConfig === undefined ? [] : missing),
    ...states.flatMap((state) => ofState(state, snapshot)),
  ];
}

function ofState(state: SriovNetworkNodeState, snapshot: Snapshot): readonly Finding[] {
  const { name } = state.metadata;
  const object = { kind: "SriovNetworkNodeState", namespace: snapshot.namespace, name };
  const { syncStatus = "", lastSyncError = "", bootID } = state.status ?? {};
  const facts = snapshot.nodes.get(name);
  const findings: Finding[] = [];
  const hasConditions = listAt(state, "status", "conditions").length > 0;

  if (snapshot.isKnown("Node") && facts === undefined) {
    const until = state.metadata.annotations?.[annotations.keepStateUntil];
    findings.push(
      findingOf("NodeStateWithoutNode", {
        object,
        message: `the cluster has no node "${name}"`,
        evidence: until === undefined ? [] : [`annotation ${annotations.keepStateUntil}: ${until}`],
      }),
    );
    return findings;
  }
  if (syncStatus === "") {
    findings.push(
      findingOf("NodeNeverReported", { object, field: "status.syncStatus", message: "status.syncStatus is empty" }),
    );
  }
  if (!hasConditions && syncStatus === "Failed") {
    const message = lastSyncError === "" ? "status.syncStatus is Failed" : lastSyncError;
    findings.push(findingOf("NodeSyncFailed", { object, field: "status.lastSyncError", message }));
  }
  if (!hasConditions && syncStatus === "InProgress") {
    const writtenMs = lastStatusWriteMs(state);
    const forMs = writtenMs === undefined ? undefined : snapshot.takenAtMs - writtenMs;
    if (forMs === undefined || forMs > progressLimitMs) {
      const since =
        writtenMs === undefined ? [] : [`the status was last written at ${new Date(writtenMs).toISOString()}`];
      findings.push(
        findingOf("NodeInProgressTooLong", {
          object,
          field: "status.syncStatus",
          evidence: since,
          values: placesOf(name, snapshot),
          message: `status.syncStatus is InProgress${forMs === undefined ? "" : ` for ${Math.round(forMs / 60_000)} minutes`}`,
        }),
      );
    }
  }
  const readyMs = timeMs(facts?.readySince);
  const isOtherBoot = bootID !== undefined && facts?.bootID !== undefined && facts.bootID !== bootID;
  if (isOtherBoot && readyMs !== undefined && snapshot.takenAtMs - readyMs > bootLimitMs) {
    findings.push(
      findingOf("NodeNotConfiguredSinceBoot", {
        object,
        field: "status.bootID",
        values: placesOf(name, snapshot),
        message: `the node has been Ready for ${Math.round((snapshot.takenAtMs - readyMs) / 60_000)} minutes and is not configured`,
        evidence: [`boot_id of the node ${facts.bootID}, of the last configuration ${bootID}`],
      }),
    );
  }
  return findings;
}

function labelText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => (value === "" ? key : `${key}=${value}`))
    .join(",");
}
