// SPDX-License-Identifier: Apache-2.0
/**
 * Networks of upstream's operator, taken over by ours: their NetworkAttachmentDefinitions are the same objects and
 * mean the same, so that pods go on; what users put on them stays; nothing waits for an operator any more, and what
 * waited for upstream's is let go. Then back to upstream, and here again.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { annotations, networkAttachmentDefinitions as nads, type Condition } from "@switchyard/api";
import { isRecord, objectPath, type KubeObject } from "@switchyard/kube";
import { eventually, findWorkspaceRoot } from "@switchyard/testing";
import { join } from "node:path";
import { installOperator, operatorUser, upstreamEnvironment, type DeployedOperator } from "./deployed-operator.ts";
import {
  goingNetwork,
  leaveNetwork,
  lostNetwork,
  markAsUpstream,
  placeOf,
  renderedByUpstream,
  upstreamNetworks,
  type UpstreamNetwork,
} from "./upstream-networks.ts";
import { startUpstreamCluster, upstream, type UpstreamCluster } from "../src/upstream-cluster.ts";

jest.setTimeout(60_000);

/** What a user puts on the one that is chained. */
const mine = { "example.com/mine": "kept" };
/** Of somebody else's making, and a copy with all marks under another name. */
const foreign = ["macvlan", "copy"].map((name) => ({ name, namespace: "tenant" }));

let testCluster: UpstreamCluster;
let operator: DeployedOperator;
/** NetworkAttachmentDefinitions as they were, by name. */
const before = new Map<string, KubeObject>();

beforeAll(async () => {
  testCluster = await startUpstreamCluster({ controllerManager: true });
  await testCluster.cluster.applyCrds(join(findWorkspaceRoot(), "libs/testing/testdata/multus"));
  await testCluster.cluster.kubectl(["create", "namespace", "tenant"]);
  for (const network of [...upstreamNetworks, goingNetwork]) await leaveNetwork(testCluster, network);
  const user = testCluster.as(upstream.user);
  await user.create(lostNetwork.type, { metadata: inItsPlace(lostNetwork), spec: lostNetwork.spec });
  await markAsUpstream(testCluster, lostNetwork, "");

  const chained = { name: "chained", namespace: "tenant" };
  const { metadata, ...content } = await user.patch(nads, chained, { metadata: { labels: mine, annotations: mine } });
  const [macvlan, copy] = foreign;
  await user.create(nads, { metadata: { ...chained, ...macvlan }, spec: { config: '{"type":"macvlan"}' } });
  const { annotations: marks = {} } = metadata;
  await user.create(nads, { ...content, metadata: { ...chained, ...copy, annotations: marks } });
  await remove(goingNetwork);
  for (const place of [...upstreamNetworks.map(placeOf), ...foreign]) {
    before.set(place.name, await testCluster.read(nads, place));
  }
  operator = await installOperator(testCluster, upstreamEnvironment(""));
}, 120_000);

afterAll(async () => {
  await operator.stop();
  await testCluster[Symbol.asyncDispose]();
}, 60_000);

const inItsPlace = ({ name, within }: UpstreamNetwork) => ({ name, namespace: within });
const find = (network: UpstreamNetwork) => testCluster.find(network.type, inItsPlace(network));
const findNad = (network: UpstreamNetwork) => testCluster.find(nads, placeOf(network));

async function remove(network: UpstreamNetwork): Promise<void> {
  await testCluster.transport.request({ method: "DELETE", path: objectPath(network.type, inItsPlace(network)) });
}

function network(name: string): UpstreamNetwork {
  const found = upstreamNetworks.find((one) => one.name === name);
  if (found === undefined) throw new RangeError(name);
  return found;
}

function configOf(nad: unknown): unknown {
  const spec = isRecord(nad) && isRecord(nad["spec"]) ? nad["spec"] : {};
  return JSON.parse(String(spec["config"]));
}

/** Waits until ours has judged it, as upstream says Ready and nothing else; what it says of being ready. */
async function readyOf(one: UpstreamNetwork): Promise<Condition> {
  return eventually(`${one.name} is judged`, async () => {
    const object: unknown = await find(one);
    const status = isRecord(object) && isRecord(object["status"]) ? object["status"] : {};
    const conditions: readonly Condition[] = Array.isArray(status["conditions"]) ? status["conditions"] : [];
    const isJudged = conditions.some(({ type }) => type === "Degraded");
    return isJudged && conditions.find(({ type }) => type === "Ready");
  });
}

describe("a network that upstream's operator left", () => {
  beforeAll(() => {
    operator.start();
  });

  it.each(upstreamNetworks)("keeps its NetworkAttachmentDefinition: $type.kind $name", async (one) => {
    const ready = await readyOf(one);
    expect(ready).toMatchObject({ status: "True", reason: "NetworkReady", lastTransitionTime: "2026-10-01T00:00:00Z" });
    const nad = await findNad(one);
    expect(configOf(nad)).toEqual(one.config);
    const { uid, labels, annotations: marks, ownerReferences } = before.get(one.name)?.metadata ?? {};
    expect(nad?.metadata).toMatchObject({ uid, annotations: marks });
    expect([nad?.metadata.labels, nad?.metadata.ownerReferences]).toEqual([labels, ownerReferences]);
  });

  it("keeps what a user put on it", async () => {
    expect((await findNad(network("chained")))?.metadata).toMatchObject({ labels: mine, annotations: mine });
  });

  it.each(upstreamNetworks)("has no finalizer and no note any more: $type.kind $name", async (one) => {
    const { finalizers, annotations: notes } = (await find(one))?.metadata ?? {};
    expect([finalizers, notes]).toEqual([undefined, undefined]);
  });

  it("leaves those alone that are not made from it", async () => {
    for (const place of foreign) {
      const { uid, resourceVersion } = (await testCluster.read(nads, place)).metadata;
      expect(before.get(place.name)?.metadata).toMatchObject({ uid, resourceVersion });
    }
  });

  it("is let go, with what was made from it, if it waited for upstream to delete it", async () => {
    await eventually("both gone", async () => {
      return (await find(goingNetwork)) === undefined && (await findNad(goingNetwork)) === undefined;
    });
    const deletions = (await testCluster.audit()).filter(({ verb, user }) => {
      return verb === "delete" && user.username === operatorUser;
    });
    expect(deletions.map(({ objectRef }) => [objectRef?.resource, objectRef?.name])).toEqual([[nads.plural, "going"]]);
  });

  it("comes out of upstream's endless error where its namespace is missing (M-15)", async () => {
    expect(await readyOf(lostNetwork)).toMatchObject({ status: "False", reason: "NamespaceNotFound" });
    expect((await find(lostNetwork))?.metadata.annotations?.[annotations.lastNetworkNamespace]).toBeUndefined();
    await testCluster.cluster.kubectl(["create", "namespace", "missing"]);
    expect(configOf(await eventually("its NAD", () => findNad(lostNetwork)))).toEqual(lostNetwork.config);
  });
});

describe("a network that is deleted while no operator runs", () => {
  const [beside, infiniband] = [network("beside"), network("infiniband")];

  it("does not hang, and takes along what is in its own namespace", async () => {
    await operator.stop();
    for (const one of [beside, infiniband]) {
      await remove(one);
      expect(await find(one)).toBeUndefined();
    }
    // The garbage collector looks for kinds that are new every 30 s.
    await eventually("its NAD is gone", async () => (await findNad(beside)) === undefined, { withinMs: 60_000 });
    expect(await findNad(infiniband)).toBeDefined();
  }, 90_000);

  it("takes along what is in another one as soon as an operator is back", async () => {
    operator.start();
    await eventually("its NAD is gone", async () => (await findNad(infiniband)) === undefined);
  });
});

const staying = upstreamNetworks.filter(({ name }) => !["beside", "infiniband"].includes(name));

describe("going back to upstream", () => {
  beforeAll(() => operator.stop());

  it.each(staying)("lets its operator update what is there: $type.kind $name", async (one) => {
    const [stored, nad] = [
      await testCluster.read(one.type, inItsPlace(one)),
      await testCluster.read(nads, placeOf(one)),
    ];
    const { metadata, spec } = renderedByUpstream(one, stored);
    const { uid, resourceVersion = "" } = nad.metadata;
    const asItWrites = { ...nad, ...{ spec }, metadata: { ...metadata, resourceVersion } };
    const updated = await testCluster.as(upstream.operator).update(nads, asItWrites);
    expect(updated).toMatchObject({ metadata: { uid }, spec });
    await markAsUpstream(testCluster, one, placeOf(one).namespace);
  });
});

describe("another take-over", () => {
  beforeAll(() => {
    operator.start();
  });

  it.each(staying)("finds all as the first did: $type.kind $name", async (one) => {
    await eventually("no finalizer, no note", async () => {
      const { finalizers, annotations: notes } = (await find(one))?.metadata ?? {};
      return finalizers === undefined && notes === undefined;
    });
    const nad = await findNad(one);
    expect([nad?.metadata.uid, configOf(nad)]).toEqual([before.get(one.name)?.metadata.uid, one.config]);
  });
});
