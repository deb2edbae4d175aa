// SPDX-License-Identifier: Apache-2.0
/**
 * Switchyard takes over the networks of upstream's operator. Their NetworkAttachmentDefinitions (NADs) stay the same
 * objects with the same meaning, so that pods keep working, and keep the labels and annotations of users. No network
 * has a finalizer any more, and networks that waited for upstream to delete them are deleted. Then upstream takes over
 * again, and Switchyard once more.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { annotations, networkAttachmentDefinitions as nads, type Condition } from "@switchyard/api";
import { isRecord, objectPath, type KubeObject } from "@switchyard/kube";
import { eventually, findWorkspaceRoot } from "@switchyard/testing";
import { join } from "node:path";
import { disposeOf } from "../src/dispose-of.ts";
import { installOperator, operatorUser, upstreamEnvironment, type DeployedOperator } from "./deployed-operator.ts";
import {
  goingNetwork,
  leaveNetwork,
  lostNetwork,
  markAsUpstream,
  nadNameOf,
  renderedByUpstream,
  upstreamNetworks,
  type UpstreamNetwork,
} from "./upstream-networks.ts";
import { startUpstreamCluster, upstream, type UpstreamCluster } from "../src/operator/upstream-cluster.ts";

/** Labels and annotations that a user sets on the NAD of the chained network. */
const mine = { "example.com/mine": "kept" };
/** NADs of another client; one of them is a copy, with all marks, under another name. */
const foreign = ["macvlan", "copy"].map((name) => ({ name, namespace: "tenant" }));

let testCluster: UpstreamCluster;
let operator: DeployedOperator;
/** The NADs before the take-over, by name. */
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
  for (const place of [...upstreamNetworks.map(nadNameOf), ...foreign]) {
    before.set(place.name, await testCluster.read(nads, place));
  }
  operator = await installOperator(testCluster, upstreamEnvironment(""));
}, 120_000);

afterAll(async () => {
  await operator.stop();
  await disposeOf(testCluster);
}, 60_000);

const inItsPlace = ({ name, within }: UpstreamNetwork) => ({ name, namespace: within });
const find = (network: UpstreamNetwork) => testCluster.find(network.type, inItsPlace(network));
const findNad = (network: UpstreamNetwork) => testCluster.find(nads, nadNameOf(network));

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

/**
 * Waits until Switchyard has reconciled the network, and returns its Ready condition. Upstream sets Ready only, so
 * Degraded shows that Switchyard has.
 */
async function readyOf(one: UpstreamNetwork): Promise<Condition> {
  return eventually(`${one.name} is reconciled`, async () => {
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

  it("keeps the labels and annotations of users", async () => {
    expect((await findNad(network("chained")))?.metadata).toMatchObject({ labels: mine, annotations: mine });
  });

  it.each(upstreamNetworks)("loses its finalizer and its annotation: $type.kind $name", async (one) => {
    const { finalizers, annotations: notes } = (await find(one))?.metadata ?? {};
    expect([finalizers, notes]).toEqual([undefined, undefined]);
  });

  it("does not affect NetworkAttachmentDefinitions that were not made from it", async () => {
    for (const place of foreign) {
      const { uid, resourceVersion } = (await testCluster.read(nads, place)).metadata;
      expect(before.get(place.name)?.metadata).toMatchObject({ uid, resourceVersion });
    }
  });

  it("is deleted with its NetworkAttachmentDefinition if it waited for upstream to delete it", async () => {
    await eventually("the network and its NAD are deleted", async () => {
      return (await find(goingNetwork)) === undefined && (await findNad(goingNetwork)) === undefined;
    });
    const deletions = (await testCluster.audit()).filter(({ verb, user }) => {
      return verb === "delete" && user.username === operatorUser;
    });
    expect(deletions.map(({ objectRef }) => [objectRef?.resource, objectRef?.name])).toEqual([[nads.plural, "going"]]);
  });

  it("recovers from upstream's endless error for a missing namespace (sriov-operator.md M-15)", async () => {
    expect(await readyOf(lostNetwork)).toMatchObject({ status: "False", reason: "NamespaceNotFound" });
    expect((await find(lostNetwork))?.metadata.annotations?.[annotations.lastNetworkNamespace]).toBeUndefined();
    await testCluster.cluster.kubectl(["create", "namespace", "missing"]);
    expect(configOf(await eventually("its NAD exists", () => findNad(lostNetwork)))).toEqual(lostNetwork.config);
  });
});

describe("a network that is deleted while no operator runs", () => {
  const [beside, infiniband] = [network("beside"), network("infiniband")];

  it("does not hang, and its NetworkAttachmentDefinition in the same namespace is deleted", async () => {
    await operator.stop();
    for (const one of [beside, infiniband]) {
      await remove(one);
      expect(await find(one)).toBeUndefined();
    }
    // The garbage collector discovers new kinds every 30 s.
    await eventually("its NAD is deleted", async () => (await findNad(beside)) === undefined, { withinMs: 60_000 });
    expect(await findNad(infiniband)).toBeDefined();
  }, 90_000);

  it("loses its NetworkAttachmentDefinition in another namespace as soon as an operator runs", async () => {
    operator.start();
    await eventually("its NAD is deleted", async () => (await findNad(infiniband)) === undefined);
  });
});

const staying = upstreamNetworks.filter(({ name }) => !["beside", "infiniband"].includes(name));

describe("going back to upstream", () => {
  beforeAll(() => operator.stop());

  it.each(staying)("lets upstream's operator update the objects: $type.kind $name", async (one) => {
    const [stored, nad] = [
      await testCluster.read(one.type, inItsPlace(one)),
      await testCluster.read(nads, nadNameOf(one)),
    ];
    const { metadata, spec } = renderedByUpstream(one, stored);
    const { uid, resourceVersion = "" } = nad.metadata;
    const asItWrites = { ...nad, spec, metadata: { ...metadata, resourceVersion } };
    const updated = await testCluster.as(upstream.operator).update(nads, asItWrites);
    expect(updated).toMatchObject({ metadata: { uid }, spec });
    await markAsUpstream(testCluster, one, nadNameOf(one).namespace);
  });
});

describe("another take-over", () => {
  beforeAll(() => {
    operator.start();
  });

  it.each(staying)("has the same result as the first: $type.kind $name", async (one) => {
    await eventually("finalizer and annotation are removed", async () => {
      const { finalizers, annotations: notes } = (await find(one))?.metadata ?? {};
      return finalizers === undefined && notes === undefined;
    });
    const nad = await findNad(one);
    expect([nad?.metadata.uid, configOf(nad)]).toEqual([before.get(one.name)?.metadata.uid, one.config]);
  });
});
