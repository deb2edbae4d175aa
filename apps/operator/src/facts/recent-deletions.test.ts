// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import { sriovNetworkNodePolicies } from "@switchyard/api";
import { ObjectStore, type KubeObject } from "@switchyard/kube";
import { createRecentDeletions } from "./recent-deletions.ts";

const head = { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetworkNodePolicy" };

it("counts the time since the last deletion, or since the start", () => {
  const cache = new ObjectStore({ type: sriovNetworkNodePolicies, project: (object: KubeObject) => object });
  cache.beginList();
  cache.endList("0");
  let nowMs = 1_000;
  const end = new AbortController();
  const deletions = createRecentDeletions({ caches: [cache], nowMs: () => nowMs }, end.signal);
  expect(deletions.remainingMs()).toBe(5_000);
  nowMs += 5_000;
  expect(deletions.remainingMs()).toBe(0);
  const policy = { ...head, metadata: { name: "a", namespace: "ns", resourceVersion: "1" } };
  cache.upsert(policy);
  expect(deletions.remainingMs()).toBe(0);
  cache.remove({ name: "a", namespace: "ns" });
  expect(deletions.remainingMs()).toBe(5_000);
  nowMs += 1_000;
  expect(deletions.remainingMs()).toBe(4_000);
  end.abort();
});
