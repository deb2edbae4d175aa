// SPDX-License-Identifier: Apache-2.0
/**
 * An absent object is no wish: each parent (parents.ts) is deleted and created again at once, its CustomResourceDefinition is
 * replaced, and its kind is not served for a minute. Meanwhile no host changes, no pod is evicted, no node is cordoned, and no
 * NetworkAttachmentDefinition goes. Afterwards specs, labels and components are as before.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { customResources, networkAttachmentDefinitions } from "@switchyard/api";
import { isRecord, type KubeObject } from "@switchyard/kube";
import { findWorkspaceRoot } from "@switchyard/testing";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { disposeOf } from "../src/dispose-of.ts";
import { prepareFaultTests, type PreparedFaultTests } from "../faults/campaign.ts";
import { startFaultCluster, type FaultCluster } from "../faults/fault-cluster.ts";
import { has, ofKind, place, statusOf } from "../faults/scenarios/scenario.ts";
import { namespaces } from "../faults/types.ts";
import { moreNics, parents, rows, tenant, type Parent } from "./parents.ts";

const worker = "worker-1";
const patient = 240_000;

/** A discovery of the API server is 30 s old at most, and watches that fail start again after at most a minute. */
const unservedMs = 60_000;

let prepared: PreparedFaultTests;
let cluster: FaultCluster;
let before: Result;

beforeAll(async () => {
  prepared = await prepareFaultTests();
  cluster = await startFaultCluster({ ...prepared, flags: [], nics: moreNics });
  await cluster.users.apply(namespaces, { metadata: { name: tenant } });
  await cluster.users.nodes.add(worker);
  for (const parent of parents) await create(parent);
  await cluster
    .until("everything is configured", () => missing().length === 0, patient)
    .catch((error: unknown) => {
      throw new Error(missing().join("\n"), { cause: error });
    });
  await cluster.users.startPod({ name: "vnf", namespace: "default" }, worker, "openshift.io/fast");
  before = await settled();
}, 600_000);

beforeEach(() => {
  cluster.observer.takeHistory();
  cluster.users.nodes.takeHostChanges();
});

afterAll(async () => {
  await disposeOf(cluster, prepared);
}, 60_000);

describe("nothing is taken away", () => {
  it.each(rows)(
    "when $kind is deleted and created again within two seconds",
    async ({ absent }) => {
      for (const parent of absent) {
        await remove(parent);
        await delay(1_000);
        await create(parent);
      }
      await expectAsBefore();
    },
    patient * 2,
  );

  it.each(rows.filter(isCustom))(
    "when the CustomResourceDefinition of $kind is replaced and the objects return",
    async ({ absent }) => {
      await cluster.controlPlane.kubectl(["delete", "crd", definitionOf(absent)]);
      await delay(3_000);
      await cluster.controlPlane.applyCrds(join(findWorkspaceRoot(), "charts/switchyard/crds"));
      await delay(8_000);
      for (const parent of absent) await create(parent);
      await expectAsBefore();
    },
    patient * 2,
  );

  it.each(rows.filter(isCustom))(
    "while the API server does not serve $kind for a minute",
    async ({ absent }) => {
      const serve = async (isServed: boolean) => {
        const patch = JSON.stringify([{ op: "replace", path: "/spec/versions/0/served", value: isServed }]);
        await cluster.controlPlane.kubectl(["patch", "crd", definitionOf(absent), "--type=json", "-p", patch]);
      };
      await serve(false);
      await delay(unservedMs);
      await serve(true);
      await expectAsBefore();
    },
    patient * 2,
  );
});

describe("the table", () => {
  it("has a row for each kind that users and the operator write", () => {
    const kinds = new Set(rows.map(({ kind }) => kind));
    expect(customResources.map(({ kind }) => kind).filter((kind) => !kinds.has(kind))).toEqual([]);
  });

  it("would notice the loss of a policy", async () => {
    const parent = parents.find(({ name }) => name === "listed");
    if (parent === undefined) throw new RangeError("no such parent");
    await remove(parent);
    await cluster.until("a VF is gone", () => cluster.users.nodes.takeHostChanges().length > 0, patient);
    await create(parent);
  });
});

function isCustom({ absent }: { readonly absent: readonly Parent[] }): boolean {
  return absent.some(({ type }) => type.group !== "");
}

function definitionOf([parent]: readonly Parent[]): string {
  return parent === undefined ? "" : `${parent.type.plural}.${parent.type.group}`;
}

async function create({ type, object }: Parent): Promise<void> {
  if (object !== undefined) await cluster.users.apply(type, object);
}

async function remove({ type, name }: Parent): Promise<void> {
  await cluster.users.delete(type, place(name));
}

/** What nodes and pods have, without what differs between two objects of the same content. */
interface Result {
  readonly specs: Readonly<Record<string, unknown>>;
  readonly labels: unknown;
  readonly components: readonly string[];
}

function result(): Result {
  const objects = cluster.observer.objects();
  const states = objects.filter(({ kind }) => kind.endsWith("NodeState"));
  const node = ofKind(objects, "Node").find(({ metadata }) => metadata.name === worker);
  return {
    specs: Object.fromEntries(states.map((state) => [state.kind, specOf(state)])),
    labels: node?.metadata.labels,
    components: ofKind(objects, "DaemonSet")
      .map(({ metadata }) => metadata.name)
      .sort(),
  };
}

/** Returns what differs from a cluster in which all is configured. */
function missing(): readonly string[] {
  const objects = cluster.observer.objects();
  const states = objects.filter(({ kind }) => kind.endsWith("NodeState"));
  return [
    ...(states.length === 2 ? [] : [`${states.length} node states`]),
    ...states.flatMap((state) => {
      const { syncStatus, observedGeneration, lastSyncError } = statusOf(state);
      const isDone = syncStatus === "Succeeded" && observedGeneration === state.metadata.generation;
      return isDone ? [] : [`${state.kind} is ${String(syncStatus)} ${String(lastSyncError)}`];
    }),
    ...parents.flatMap(({ type: { kind }, name }) => {
      const isReported = kind.endsWith("Policy") || kind.endsWith("Network");
      return !isReported || has(objects, `${kind} ${name}`, "Ready") ? [] : [`${kind} ${name} is not Ready`];
    }),
  ];
}

/** Waits until all is configured and nothing changes any longer. */
async function settled(): Promise<Result> {
  const { injector, observer } = cluster;
  const isAtRest = () => performance.now() - Math.max(injector.lastRequestAtMs, observer.changedAtMs) > 2_000;
  await cluster.until("nothing is missing", () => missing().length === 0 && isAtRest(), patient);
  return result();
}

async function expectAsBefore(): Promise<void> {
  const isAsBefore = () => missing().length === 0 && isDeepStrictEqual(result(), before);
  await cluster.until("all is as before", isAsBefore, patient).catch(() => undefined);
  expect({ missing: missing(), ...result() }).toEqual({ missing: [], ...before });
  await settled();
  expect(cluster.users.nodes.takeHostChanges()).toEqual([]);
  const kinds = [networkAttachmentDefinitions.kind, "Pod", "Node"];
  const losses = [...cluster.observer.takeHistory()].flatMap(([label, news]) => {
    const isOfUsers = kinds.some((kind) => label.startsWith(`${kind} `)) && !label.includes("sriov-network-operator/");
    return isOfUsers ? news.filter((each) => each !== "came").map((each) => `${label} ${each}`) : [];
  });
  expect(losses).toEqual([]);
  expect(ofKind(cluster.observer.objects(), "Pod").some(({ metadata }) => metadata.name === "vnf")).toBe(true);
}

function specOf(object: KubeObject): unknown {
  return "spec" in object && isRecord(object.spec) ? object.spec : {};
}
