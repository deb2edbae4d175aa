// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { readPodDevices } from "./pod-devices.ts";

const asks = (quantity: unknown, name = "openshift.io/fast") => ({ resources: { requests: { [name]: quantity } } });
const read = (pod: unknown) => readPodDevices(pod, "openshift.io");

describe("readPodDevices", () => {
  it.each([
    { what: "a container's request", spec: { containers: [asks("1")] } },
    { what: "a container's limit", spec: { containers: [{ resources: { limits: { "openshift.io/fast": 1 } } }] } },
    { what: "an init container's, or a sidecar's (sriov-operator.md M-13)", spec: { initContainers: [asks("1")] } },
    { what: "an ephemeral container's", spec: { ephemeralContainers: [asks("1")] } },
    { what: "the second container's", spec: { containers: [{}, asks("2")] } },
    {
      what: "a limit in addition to a request of 0",
      spec: {
        containers: [{ resources: { requests: { "openshift.io/fast": "0" }, limits: { "openshift.io/fast": "1" } } }],
      },
    },
    { what: "a thousand", spec: { containers: [asks("1k")] } },
    { what: "a fraction", spec: { containers: [asks("10m")] } },
    { what: "a malformed quantity", spec: { containers: [asks("none")] } },
    { what: "a quantity that is not a string", spec: { containers: [asks({})] } },
    { what: "a negative quantity", spec: { containers: [asks("-1")] } },
  ])("counts $what", ({ spec }) => {
    expect(read({ spec }).resources).toEqual(["fast"]);
  });

  it.each(["0", 0, "0m", "0.00", ".0", "+0", "-0", "0k", "0Ki", "0e3", "0E-3", "000"])(
    "ignores a request of %j",
    (quantity) => {
      expect(read({ spec: { containers: [asks(quantity)] } }).resources).toEqual([]);
    },
  );

  it("returns only resources with the prefix, sorted and unique", () => {
    const containers = [asks("1"), asks("2", "openshift.io/dpdk"), asks("1"), asks("1", "openshift.io.example/fast")];
    expect(read({ spec: { containers: [...containers, asks("1", "cpu")] } }).resources).toEqual(["dpdk", "fast"]);
  });

  it("returns claims by name, from templates and for extended resources", () => {
    const spec = {
      resourceClaims: [
        { name: "own", resourceClaimName: "shared" },
        { name: "made", resourceClaimTemplateName: "template" },
      ],
    };
    const status = {
      resourceClaimStatuses: [{ name: "made", resourceClaimName: "web-made-x7x2" }, { name: "not-needed" }],
      extendedResourceClaimStatus: {
        resourceClaimName: "web-extended-resources-abcde",
        requestMappings: [{ containerName: "main", resourceName: "example.com/nic", requestName: "container-0" }],
      },
    };
    expect(read({ spec, status }).claims).toEqual(["shared", "web-extended-resources-abcde", "web-made-x7x2"]);
  });

  it("accepts malformed pods", () => {
    const part = fc.jsonValue({ maxDepth: 3 });
    const spec = fc.record({ containers: part, initContainers: part, resourceClaims: part });
    fc.assert(
      fc.property(fc.oneof(part, fc.record({ spec: fc.oneof(part, spec), status: part })), (pod) => {
        expect(read(pod)).toEqual({ resources: [], claims: [] });
      }),
    );
  });
});
