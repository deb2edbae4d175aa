// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { KubeObject } from "@switchyard/kube";
import { createPodUsers } from "./pod-users.ts";

function pod(name: string, nodeName: string, ...resources: readonly string[]): KubeObject {
  const limits = Object.fromEntries(resources.map((resource) => [`openshift.io/${resource}`, "1"]));
  const spec = { nodeName, containers: [{ name: "main", resources: { limits } }] };
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default" }, ...{ spec } };
}

describe("createPodUsers", () => {
  it("knows the pods with VFs of each node, whatever comes and goes", () => {
    const users = createPodUsers("openshift.io");
    users.beginList();
    for (const one of [pod("a", "w1", "fast"), pod("b", "w1"), pod("c", "w2", "fast", "slow")]) users.upsert(one);
    expect(users.synced).toBe(false);
    users.endList("1");
    expect(users.synced).toBe(true);
    expect([users.on("w1"), users.on("w2"), users.on("w3")]).toEqual([[["fast"]], [["fast", "slow"]], []]);
    users.upsert(pod("d", "w1", "fast"));
    users.upsert(pod("a", "w1", "slow"));
    users.remove({ name: "c", namespace: "default" });
    users.remove({ name: "b", namespace: "default" });
    expect([users.on("w1"), users.on("w2")]).toEqual([[["fast"], ["slow"]], []]);
  });

  it("forgets what a later list lacks", () => {
    const users = createPodUsers("openshift.io");
    for (const names of [["a", "b"], ["b"]]) {
      users.beginList();
      for (const name of names) users.upsert(pod(name, "w1", name));
      users.endList("1");
    }
    expect(users.on("w1")).toEqual([["b"]]);
  });
});
