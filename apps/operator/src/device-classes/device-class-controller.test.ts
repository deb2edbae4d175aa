// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import type { DeviceClass, SriovNetworkNodePolicy } from "@switchyard/api";
import type { CachedNodeState } from "../facts/cached-node-state.ts";
import { createDeviceClassReconciler } from "./device-class-controller.ts";

const policy = (name: string, resourceName: string): SriovNetworkNodePolicy => ({
  apiVersion: "sriovnetwork.openshift.io/v1",
  kind: "SriovNetworkNodePolicy",
  metadata: { name },
  spec: { resourceName, numVfs: 2, nicSelector: {}, nodeSelector: {} },
});

const deviceClass = (name: string, labels: Record<string, string> = {}): DeviceClass => ({
  apiVersion: "resource.k8s.io/v1",
  kind: "DeviceClass",
  metadata: { name, labels },
  spec: { selectors: [] },
});

function setUp(policies: readonly SriovNetworkNodePolicy[], existing: readonly DeviceClass[]) {
  const classes = new Map(existing.map((one) => [one.metadata.name, one]));
  const states: readonly Pick<CachedNodeState, "spec">[] = [];
  const cluster = { usesClaims: true as boolean | undefined, policies, states, classes };
  const reconcile = createDeviceClassReconciler({
    classes: { list: () => [...classes.values()] },
    policies: { list: () => cluster.policies },
    states: { list: () => cluster.states },
    resourcePrefix: "openshift.io",
    usesClaims: () => cluster.usesClaims,
    writer: {
      apply({ metadata: { name, labels = {} }, spec }) {
        const before = classes.get(name);
        const metadata = { name, labels: { ...before?.metadata.labels, ...labels } };
        classes.set(name, { ...deviceClass(name), metadata, spec: spec ?? { selectors: [] } });
        return Promise.resolve("written");
      },
      delete({ metadata }) {
        classes.delete(metadata.name);
        return Promise.resolve();
      },
    },
  });
  return { cluster, run: () => reconcile("all", new AbortController().signal) };
}

const generic = "sriovnetwork.k8snetworkplumbingwg.io";

it("keeps a class for each resource, takes over those of another operator, and leaves those of users", async () => {
  const ofOther = deviceClass("fast", { "sriovnetwork.openshift.io/generated-by": "sriov-network-operator" });
  const { cluster, run } = setUp(
    [policy("p", "fast"), policy("q", "fast"), policy("r", "slow")],
    [ofOther, deviceClass("mine")],
  );
  await run();
  expect([...cluster.classes.keys()].sort()).toEqual(["fast", "mine", "slow", generic]);
  expect(cluster.classes.get("fast")).toMatchObject({
    metadata: { labels: { "sriovnetwork.openshift.io/generated-by": "sriov-network-operator" } },
    spec: { extendedResourceName: "openshift.io/fast" },
  });
});

it("deletes its classes when no policy has the resource, and all when no node uses claims", async () => {
  const { cluster, run } = setUp([policy("p", "fast"), policy("r", "slow")], [deviceClass("mine")]);
  await run();
  cluster.policies = [policy("p", "fast")];
  await run();
  expect([...cluster.classes.keys()].sort()).toEqual(["fast", "mine", generic]);
  cluster.usesClaims = undefined; // no SriovOperatorConfig: nothing is known
  await run();
  expect(cluster.classes.size).toBe(3);
  cluster.usesClaims = false;
  await run();
  expect([...cluster.classes.keys()]).toEqual(["mine"]);
});

it("keeps the class of a resource that nodes still have after its policy, which can be lost", async () => {
  const { cluster, run } = setUp([policy("p", "fast")], []);
  await run();
  cluster.policies = [];
  const vfGroups = [{ resourceName: "fast", vfRange: "0-1" }];
  cluster.states = [{ spec: { interfaces: [{ pciAddress: "0000:3b:00.0", vfGroups }] } }];
  await run();
  expect([...cluster.classes.keys()].sort()).toEqual(["fast", generic]);
  cluster.states = [];
  await run();
  expect([...cluster.classes.keys()]).toEqual([generic]);
});
