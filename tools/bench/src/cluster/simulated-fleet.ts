// SPDX-License-Identifier: Apache-2.0
/**
 * SimulatedFleet has Node objects, and a watch of the node states in place of the nodes' daemons. Each node state exists twice:
 * the operator writes one, and the plain client the other.
 */
import { annotations, nodes as nodeType, operatorConfigName, sriovOperatorConfigs } from "@switchyard/api";
import { apiVersionOf, collectionPath, isRecord, objectPath, type ResourceType } from "@switchyard/kube";
import { mapConcurrently } from "@switchyard/service";
import { BenchError, forEachIndex, until, type Run } from "../harness/run.ts";
import { createArrivals, watchArrivals, type Arrivals } from "./arrivals.ts";
import type { BenchCluster, BenchUser } from "./bench-cluster.ts";
import { nodeName, nodeObject, operatorConfig, operatorNamespace, plainNamespace } from "./nodes.ts";
import type { PlainClient, PlainObject } from "./plain-client.ts";

export interface SimulatedFleet<Spec extends object> {
  readonly size: number;
  readonly connections: number;
  readonly plain: PlainClient;
  readonly plainUser: BenchUser;
  readonly arrivals: Arrivals;
  /** Calls `work` with the index of each node. */
  forAll(work: (index: number) => Promise<unknown>): Promise<void>;
  /** Path of a node state. */
  path(namespace: string, index: number): string;
  /** How many node states of the namespace have a new spec, for the progress. */
  arrived(namespace: string): string;
  /** Waits until all node states of the namespace have a new spec. */
  untilAll(namespace: string): Promise<void>;
  /** The spec that all of the operator's node states have; undefined while they differ. */
  commonSpec(): Promise<Spec | undefined>;
  /**
   * Waits until the watch has caught up with all writes so far: after many large ones the server's watch cache is tens of
   * seconds behind.
   */
  catchUp(): Promise<void>;
  /** Lets the plain client write this spec to all of its node states. */
  writePlainly(spec: Spec): Promise<void>;
}

/** The kind of the node states. */
export interface FleetKind<Spec extends object> {
  readonly type: ResourceType;
  /** Kind of the object that owns the node states. */
  readonly owner: string;
  /** A spec that differs for each number. */
  readonly marker: (mark: number) => Spec;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The annotations of a new SriovNetworkNodeState. */
export const idleAnnotations = { [annotations.desiredState]: "Idle", [annotations.currentState]: "Idle" };

interface FleetOptions {
  readonly nodes: number;
  /** Number of connections of the plain client. */
  readonly connections: number;
}

/** Creates the Nodes and a SriovOperatorConfig. */
export async function createFleet<Spec extends object>(
  run: Run,
  cluster: BenchCluster,
  kind: FleetKind<Spec>,
  { nodes: size, connections }: FleetOptions,
): Promise<SimulatedFleet<Spec>> {
  const { admin } = cluster;
  const { type, marker } = kind;
  const arrivals = createArrivals();
  run.use(await watchArrivals(admin, arrivals, run.fail, type));
  const plainUser = await cluster.user("plain");
  const plain = await plainUser.client(connections);
  await forEachIndex(run, { what: `creating ${size} nodes`, count: size }, (index) =>
    admin.create(nodeType, nodeObject(index)),
  );
  await admin.create(sriovOperatorConfigs, operatorConfig);
  let mark = 0;

  const { signal } = run;
  const count = (namespace: string) => arrivals.of(namespace)?.objects ?? 0;
  return {
    size,
    connections,
    plain,
    plainUser,
    arrivals,
    forAll: (work) => forEachIndex(run, { count: size, limit: connections }, work),
    path: (namespace, index) => objectPath(type, { name: nodeName(index), namespace }),
    arrived: (namespace) => `${count(namespace)} of ${size} nodes`,
    untilAll: (namespace) =>
      until(`specs of all ${size} nodes`, () => count(namespace) === size, { withinMs: limitMs(size), signal }),
    commonSpec: () => readCommonSpec(admin, type),
    async catchUp() {
      mark += 1;
      const changes = () => arrivals.of(markerNamespace)?.changes ?? 0;
      const before = changes();
      await admin.apply("plain", type, { ...stateHead(type, markerNamespace, 0), spec: marker(mark) });
      await until("the watch to catch up", () => changes() > before, { withinMs: 300_000, signal });
    },
    writePlainly: (spec) => writePlainStates(plain, kind, { spec, nodes: size, connections, signal }),
  };
}

/** The time limit for a step of a fleet with this many nodes. */
export function limitMs(size: number): number {
  return 60_000 + 60 * size;
}

interface PlainWriting {
  readonly spec: object;
  readonly nodes: number;
  readonly connections: number;
  readonly signal?: AbortSignal;
}

/** Writes this spec to all of the plain client's node states, with the metadata that the operator writes. */
export async function writePlainStates(
  client: PlainClient,
  { type, owner, annotations: marks }: Pick<FleetKind<object>, "type" | "owner" | "annotations">,
  { spec, nodes, connections, signal }: PlainWriting,
): Promise<void> {
  // Owner references have no effect here, because no garbage collector is running.
  const reference = { kind: owner, name: operatorConfigName, uid: "11111111-2222-3333-4444-555555555555" };
  const ownerReferences = [
    { apiVersion: apiVersionOf(type), ...reference, controller: true, blockOwnerDeletion: true },
  ];
  await mapConcurrently([...Array(nodes).keys()], connections, (index) => {
    signal?.throwIfAborted();
    const { metadata, ...head } = stateHead(type, plainNamespace, index);
    const marked = { ...metadata, ownerReferences, ...(marks && { annotations: marks }) };
    return client.apply("plain", type, { ...head, metadata: marked, spec });
  });
}

/** A node state with metadata only. */
export function stateHead(type: ResourceType, namespace: string, index: number): PlainObject {
  return { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name: nodeName(index), namespace } };
}

/** A node state in it does not count as an arrival. */
const markerNamespace = "default";

// A page of the large profile has 6 MB.
const pageSize = 100;

async function readCommonSpec<Spec extends object>(client: PlainClient, type: ResourceType): Promise<Spec | undefined> {
  let first: { readonly text: string; readonly spec: Spec } | undefined;
  let next = "";
  do {
    const query = `?limit=${pageSize}&continue=${encodeURIComponent(next)}`;
    const path = collectionPath(type, operatorNamespace) + query;
    const page = await client.get(path);
    if (!isRecord(page) || !Array.isArray(page["items"]) || !isRecord(page["metadata"])) {
      throw new BenchError("refused", `GET ${path}: the answer is not a list`);
    }
    for (const item of page["items"]) {
      if (!isState(item, type)) throw new BenchError("refused", `GET ${path}: an item is not a node state`);
      const spec = (item.spec ?? {}) as Spec; // the API server leaves out what is empty
      const text = JSON.stringify(spec);
      first ??= { text, spec };
      if (first.text !== text) return undefined;
    }
    next = typeof page["metadata"]["continue"] === "string" ? page["metadata"]["continue"] : "";
  } while (next !== "");
  return first?.spec;
}

/** Checks the head only, because the API server has validated the object against the schema. */
function isState(item: unknown, type: ResourceType): item is { readonly spec?: object } {
  return isRecord(item) && item["apiVersion"] === apiVersionOf(type) && item["kind"] === type.kind;
}
