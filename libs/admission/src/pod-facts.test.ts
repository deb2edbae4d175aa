// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { readPod } from "./node-for-review.ts";

const requesting = (...names: readonly string[]) => ({
  resources: { requests: Object.fromEntries(names.map((name) => [name, "1"])) },
});

describe("readPod", () => {
  it("returns each requested resource once", () => {
    const containers = [requesting("openshift.io/fast", "cpu"), { resources: { limits: { "openshift.io/fast": 2 } } }];
    const initContainers = [requesting("openshift.io/early", "example.com/gpu")];
    const metadata = { name: "web", namespace: "apps" };
    const pod = { metadata, spec: { nodeName: "w1", containers, initContainers }, status: { phase: "Running" } };
    const found = (resources: readonly string[]) => ({
      node: "w1",
      namespace: "apps",
      devices: { resources, claims: [] },
    });
    expect(readPod(pod, "openshift.io")).toEqual(found(["early", "fast"]));
    expect(readPod(pod, "example.com")).toEqual(found(["gpu"]));
  });

  it("returns the ResourceClaims of a pod", () => {
    const spec = { nodeName: "w1", resourceClaims: [{ name: "nic", resourceClaimName: "nic" }] };
    expect(readPod({ spec }, "openshift.io")?.devices).toEqual({ resources: [], claims: ["nic"] });
  });

  it.each([
    { what: "that is not bound to a node", pod: { spec: { containers: [requesting("openshift.io/fast")] } } },
    {
      what: "that has ended",
      pod: { spec: { nodeName: "w1", containers: [requesting("openshift.io/fast")] }, status: { phase: "Failed" } },
    },
    { what: "that requests no VF", pod: { spec: { nodeName: "w1", containers: [requesting("cpu")] } } },
    {
      what: "that requests 0 VFs",
      pod: { spec: { nodeName: "w1", containers: [{ resources: { requests: { "openshift.io/fast": "0" } } }] } },
    },
  ])("ignores a pod $what", ({ pod }) => {
    expect(readPod(pod, "openshift.io")).toBeUndefined();
  });

  it("accepts any JSON value", () => {
    const part = fc.jsonValue({ maxDepth: 2 });
    const container = fc.oneof(part, fc.record({ resources: fc.oneof(part, fc.record({ requests: part })) }));
    const spec = fc.record({
      nodeName: fc.oneof(part, fc.constant("w1")),
      containers: fc.oneof(part, fc.array(container)),
    });
    const property = fc.property(fc.oneof(part, fc.record({ spec: fc.oneof(part, spec), status: part })), (pod) => {
      expect(readPod(pod, "openshift.io")).toBeUndefined();
    });
    fc.assert(property);
  });
});
