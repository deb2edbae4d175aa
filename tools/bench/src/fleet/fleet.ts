// SPDX-License-Identifier: Apache-2.0
/**
 * Fleet is a simulated fleet: Node objects, statuses as daemons write them, and a watch of the node states. Each node
 * state exists twice: the operator writes one and the plain client the other.
 */
import {
  apiVersion,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  nodes as nodeType,
  type SriovNetworkNodeStateSpec,
  type SriovNetworkNodePolicy,
} from "@switchyard/api";
import { collectionPath, isRecord, objectPath } from "@switchyard/kube";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { BenchError, until, type Run } from "../harness/run-control.ts";
import type { BenchCluster } from "../harness/bench-cluster.ts";
import { createPlainClient, inParallel, type PlainClient } from "../harness/plain-client.ts";
import { bundleProgram } from "../harness/measured-process.ts";
import type { Progress } from "../harness/progress.ts";
import { createArrivals, watchArrivals, type Arrivals } from "./arrivals.ts";
import type { FleetOptions } from "./fleet-options.ts";
import {
  applyPlainly,
  nodeName,
  nodeObject,
  operatorConfig,
  operatorNamespace,
  plainNamespace,
  reportedState,
  stateWithSpec,
  writePlainStates,
} from "./fleet-objects.ts";
import { profiles } from "./fleet-profile.ts";

export interface Fleet extends AsyncDisposable {
  readonly size: number;
  readonly arrivals: Arrivals;
  /** Writes the status of all of the operator's node states, as daemons do. */
  reportAll(): Promise<void>;
  /** Deletes all node states of the operator and of the plain client. */
  deleteStates(): Promise<void>;
  /** Writes the same statuses to the plain client's node states. */
  reportAllPlainly(): Promise<void>;
  applyPolicy(policy: SriovNetworkNodePolicy): Promise<void>;
  deletePolicies(): Promise<void>;
  /** Sets a label on one node that no policy selects. */
  labelNode(value: string): Promise<void>;
  /** The spec that all of the operator's node states have; undefined while they differ. */
  commonSpec(): Promise<SriovNetworkNodeStateSpec | undefined>;
  /**
   * Waits until the watch has caught up with all writes so far: after many large ones the server's watch cache is tens of
   * seconds behind.
   */
  catchUp(): Promise<void>;
  /** Lets the plain client write this spec to all of its node states. */
  applyPlainly(spec: SriovNetworkNodeStateSpec): Promise<void>;
  /** The same with a plain client in a new process (plain-start.ts). */
  startPlainly(spec: SriovNetworkNodeStateSpec): Promise<void>;
}

export interface FleetParts {
  readonly cluster: BenchCluster;
  readonly options: FleetOptions;
  readonly progress: Progress;
  readonly run: Run;
}

/** Creates the objects that exist before the operator starts. */
export async function createFleet({ cluster, options, progress, run }: FleetParts): Promise<Fleet> {
  const profile = profiles[options.profile];
  const { admin } = cluster;
  await using parts = new AsyncDisposableStack();
  const arrivals = createArrivals();
  parts.use(await watchArrivals(admin, arrivals, run.fail));
  const { connections } = options;
  const plainUser = await cluster.user("plain");
  const plain = parts.use(createPlainClient(plainUser.identity, connections));
  const plainStart = await bundleProgram("tools/bench/src/fleet/plain-start.ts");
  const indexes = Array.from({ length: options.nodes }, (_, index) => index);

  const forAll = (work: (index: number) => Promise<unknown>) =>
    inParallel(indexes, connections, (index) => {
      run.signal.throwIfAborted();
      return work(index);
    });

  let made = 0;
  let mark = 0;
  progress.at(`creating ${options.nodes} nodes`, () => `${made} of ${options.nodes}`);
  await forAll(async (index) => {
    await admin.request({ method: "POST", path: collectionPath(nodeType), body: nodeObject(index) });
    made += 1;
  });
  const configs = collectionPath(sriovOperatorConfigs, operatorNamespace);
  await admin.request({ method: "POST", path: configs, body: operatorConfig });

  const reportIn = (namespace: string) =>
    forAll((index) =>
      applyPlainly(
        admin,
        "config-daemon",
        statePath(namespace, index, "status"),
        reportedState(profile, namespace, index),
      ),
    );

  const owned = parts.move();
  return {
    size: options.nodes,
    arrivals,
    reportAll: () => reportIn(operatorNamespace),
    async deleteStates() {
      for (const namespace of [operatorNamespace, plainNamespace]) {
        await forAll((index) => admin.request({ method: "DELETE", path: statePath(namespace, index) }));
      }
    },
    reportAllPlainly: () => reportIn(plainNamespace),
    async applyPolicy(policy) {
      await applyPlainly(admin, "user", objectPath(sriovNetworkNodePolicies, policy.metadata), policy);
    },
    async deletePolicies() {
      await admin.request({ method: "DELETE", path: collectionPath(sriovNetworkNodePolicies, operatorNamespace) });
    },
    async labelNode(value) {
      await admin.request({
        method: "PATCH",
        path: objectPath(nodeType, { name: nodeName(0) }),
        contentType: "application/merge-patch+json",
        body: { metadata: { labels: { "example.com/rack": value } } },
      });
    },
    commonSpec: () => readCommonSpec(admin),
    async catchUp() {
      mark += 1;
      const marker = stateWithSpec(markerNamespace, 0, { interfaces: [{ pciAddress: "0000:00:00.0", numVfs: mark }] });
      const before = arrivals.of(markerNamespace)?.changes ?? 0;
      await applyPlainly(admin, "plain", statePath(markerNamespace, 0), marker);
      const isSeen = () => (arrivals.of(markerNamespace)?.changes ?? 0) > before;
      await until("the watch to catch up", isSeen, { withinMs: 300_000, signal: run.signal });
    },
    applyPlainly: (spec) => writePlainStates(plain, { spec, connections, signal: run.signal, nodes: options.nodes }),
    async startPlainly(spec) {
      const args = [plainStart, plainUser.kubeconfig, `${connections}`, JSON.stringify(spec)];
      await promisify(execFile)(process.execPath, args, { signal: run.signal });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function statePath(namespace: string, index: number, subresource?: string): string {
  return objectPath(sriovNetworkNodeStates, { name: nodeName(index), namespace }, subresource);
}

/** Reads one node state, without counting it as an arrival. */
const markerNamespace = "default";

// A page of the large profile has 6 MB.
const pageSize = 100;

async function readCommonSpec(client: PlainClient): Promise<SriovNetworkNodeStateSpec | undefined> {
  let first: { readonly text: string; readonly spec: SriovNetworkNodeStateSpec } | undefined;
  let next = "";
  do {
    const query = `?limit=${pageSize}&continue=${encodeURIComponent(next)}`;
    const path = collectionPath(sriovNetworkNodeStates, operatorNamespace) + query;
    const page: unknown = JSON.parse(await client.request({ method: "GET", path }));
    if (!isRecord(page) || !Array.isArray(page["items"]) || !isRecord(page["metadata"])) {
      throw new BenchError("refused", `GET ${path}: the answer is not a list`);
    }
    for (const item of page["items"]) {
      if (!isNodeState(item)) throw new BenchError("refused", `GET ${path}: an item is not a node state`);
      const text = JSON.stringify(item.spec ?? {});
      first ??= { text, spec: item.spec ?? {} };
      if (first.text !== text) return undefined;
    }
    next = typeof page["metadata"]["continue"] === "string" ? page["metadata"]["continue"] : "";
  } while (next !== "");
  return first?.spec;
}

/** Checks the metadata only, because the API server has validated the object against the schema. */
function isNodeState(item: unknown): item is { readonly spec?: SriovNetworkNodeStateSpec } {
  return isRecord(item) && item["apiVersion"] === apiVersion && item["kind"] === sriovNetworkNodeStates.kind;
}
