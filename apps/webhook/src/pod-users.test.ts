// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createStateReader } from "@switchyard/admission";
import type { KubeObject } from "@switchyard/kube";
import { createDeviceClaims } from "./device-claims.ts";
import { createPodUsers } from "./pod-users.ts";

function pod(name: string, nodeName: string, ...resources: readonly string[]): KubeObject {
  const limits = Object.fromEntries(resources.map((resource) => [`openshift.io/${resource}`, "1"]));
  const spec = { nodeName, containers: [{ name: "main", resources: { limits } }] };
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default" }, ...{ spec } };
}

function usersOf(node: string, users: ReturnType<typeof createPodUsers>): readonly (readonly string[])[] {
  return users.on(node).map(({ resources }) => resources);
}

function createUsers() {
  return createPodUsers("openshift.io", createDeviceClaims({ get: () => undefined }).useOf);
}

describe("createPodUsers", () => {
  it("knows the pods with VFs on each node through all changes", () => {
    const users = createUsers();
    users.beginList();
    for (const one of [pod("a", "w1", "fast"), pod("b", "w1"), pod("c", "w2", "fast", "slow")]) users.upsert(one);
    expect(users.synced).toBe(false);
    users.endList("1");
    expect(users.synced).toBe(true);
    expect(["w1", "w2", "w3"].map((node) => usersOf(node, users))).toEqual([[["fast"]], [["fast", "slow"]], []]);
    users.upsert(pod("d", "w1", "fast"));
    users.upsert(pod("a", "w1", "slow"));
    users.remove({ name: "c", namespace: "default" });
    users.remove({ name: "b", namespace: "default" });
    expect(["w1", "w2"].map((node) => usersOf(node, users))).toEqual([[["fast"], ["slow"]], []]);
  });

  it("forgets pods that a later list lacks", () => {
    const users = createUsers();
    for (const names of [["a", "b"], ["b"]]) {
      users.beginList();
      for (const name of names) users.upsert(pod(name, "w1", name));
      users.endList("1");
    }
    expect(usersOf("w1", users)).toEqual([["b"]]);
  });
});

describe("a pod with a ResourceClaim", () => {
  const interfaces = [{ pciAddress: "0000:3b:00.0", Vfs: [{ pciAddress: "0000:3b:02.0", vfID: 0 }] }];
  const state = createStateReader()({ status: { interfaces } });
  const metadata = { name: "nic", namespace: "default", uid: "1", resourceVersion: "1" };
  const claim = (results: readonly object[]): KubeObject => ({
    ...{ apiVersion: "resource.k8s.io/v1", kind: "ResourceClaim", metadata },
    ...{ status: { allocation: { devices: { results } } } },
  });
  const slice = (pciAddress: string, resourceVersion: string): KubeObject => ({
    ...{ apiVersion: "resource.k8s.io/v1", kind: "ResourceSlice" },
    metadata: { name: "slice", uid: "2", resourceVersion },
    ...{
      spec: {
        ...{ driver: "nics.example.com", nodeName: "w1", pool: { name: "w1" } },
        devices: [{ name: "vf-0", attributes: { pciAddress: { string: pciAddress } } }],
      },
    },
  });

  /** A pod on w1 with the claim "nic", and a function that returns its devices. */
  function setUp() {
    const devices = createDeviceClaims({ get: (node) => (node === "w1" ? state : undefined) });
    const users = createPodUsers("openshift.io", devices.useOf);
    const spec = { nodeName: "w1", resourceClaims: [{ name: "nic", resourceClaimName: "nic" }] };
    users.upsert({ apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "default" }, ...{ spec } });
    for (const store of [devices.claims, devices.slices]) {
      store.beginList();
      store.endList("1");
    }
    return { ...devices, use: () => users.on("w1")[0] };
  }

  it("uses the PF of its allocated VF as soon as the slice is published", () => {
    const { claims, slices, use } = setUp();
    claims.upsert(claim([{ driver: "nics.example.com", pool: "w1", device: "vf-0" }]));
    slices.upsert(slice("0000:99:00.0", "2"));
    expect(use()).toEqual({ resources: [], pfs: [], isUncertain: false });
    slices.upsert(slice("0000:3b:02.0", "3"));
    expect(use()).toEqual({ resources: [], pfs: ["0000:3b:00.0"], isUncertain: false });
  });

  it("uses no devices if the API server does not serve claims", () => {
    const { claims, slices, use } = setUp();
    expect(use()?.isUncertain).toBe(true); // claims are served, and this one does not exist
    for (const store of [claims, slices]) store.notServed();
    expect(use()).toEqual({ resources: [], pfs: [], isUncertain: false });
  });
});
