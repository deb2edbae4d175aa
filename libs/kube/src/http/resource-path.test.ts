// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { collectionPath, objectPath } from "./transport.ts";

const nodes = { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false };
const leases = { group: "coordination.k8s.io", version: "v1", kind: "Lease", plural: "leases", namespaced: true };

describe("paths", () => {
  it.each([
    { of: "all objects of core", path: collectionPath(nodes), is: "/api/v1/nodes" },
    { of: "all namespaces", path: collectionPath(leases), is: "/apis/coordination.k8s.io/v1/leases" },
    {
      of: "one namespace",
      path: collectionPath(leases, "ns"),
      is: "/apis/coordination.k8s.io/v1/namespaces/ns/leases",
    },
    { of: "an object", path: objectPath(nodes, { name: "worker-0" }), is: "/api/v1/nodes/worker-0" },
    { of: "a subresource", path: objectPath(nodes, { name: "a" }, "status"), is: "/api/v1/nodes/a/status" },
    { of: "a name from outside", path: objectPath(nodes, { name: "../a?b" }), is: "/api/v1/nodes/..%2Fa%3Fb" },
  ])("is $is for $of", ({ path, is }) => {
    expect(path).toBe(is);
  });

  it("throws for a missing namespace and for a namespace of a cluster-scoped type", () => {
    expect(() => objectPath(leases, { name: "a" })).toThrow(TypeError);
    expect(() => collectionPath(nodes, "ns")).toThrow(TypeError);
  });

  it.each(["", ".", ".."])("throws for the segment %j, which would lead to another resource", (text) => {
    expect(() => collectionPath(leases, text)).toThrow(`"${text}" cannot be part of an API path`);
    expect(() => objectPath(leases, { name: text, namespace: "ns" })).toThrow(TypeError);
  });
});
