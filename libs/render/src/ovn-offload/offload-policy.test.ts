// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { ovnOffloadPolicy, ovnOffloadPolicyName } from "./offload-policy.ts";

const of = { pool: "dpu-host", model: "bluefield-2", namespace: "switchyard", numVfs: 16 } as const;

describe("ovnOffloadPolicy", () => {
  it("creates the VFs on the SmartNICs of one model in the pool", () => {
    expect(ovnOffloadPolicy(of)).toEqual({
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovNetworkNodePolicy",
      metadata: {
        name: "ovn-offload-dpu-host-bluefield-2",
        namespace: "switchyard",
        labels: {
          "app.kubernetes.io/managed-by": "switchyard-ovn-offload",
          "switchyard.io/ovn-offload-pool": "dpu-host",
        },
      },
      spec: {
        resourceName: "bluefield2",
        nodeSelector: { "switchyard.io/ovn-offload-pool": "dpu-host" },
        priority: 99,
        numVfs: 16,
        nicSelector: { vendor: "15b3", deviceID: "a2d6" },
      },
    });
    expect(ovnOffloadPolicy({ ...of, model: "bluefield-3" }).spec).toMatchObject({
      resourceName: "bluefield3",
      nicSelector: { vendor: "15b3", deviceID: "a2dc" },
    });
  });

  it("keeps what users changed, and repairs what ties it to the pool", () => {
    const tuned = { numVfs: 8, mtu: 9000, priority: 5, resourceName: "fast", isRdma: true };
    const present: SriovNetworkNodePolicy = {
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovNetworkNodePolicy",
      metadata: { name: "ovn-offload-dpu-host-bluefield-2", labels: {} },
      spec: { ...tuned, nodeSelector: {}, nicSelector: { vendor: "15b3", pfNames: ["ens1f0#0-3"] } },
    };
    const { metadata, spec } = ovnOffloadPolicy({ ...of, present });
    expect(metadata).toEqual(ovnOffloadPolicy(of).metadata);
    const { nodeSelector, nicSelector } = ovnOffloadPolicy(of).spec;
    expect(spec).toEqual({ ...tuned, nodeSelector, nicSelector });
  });
});

describe("ovnOffloadPolicyName", () => {
  it("has at most 63 characters, and stays unique", () => {
    const pool = "a".repeat(80);
    const names = [`${pool}b`, `${pool}c`].map((name) => ovnOffloadPolicyName(name, "bluefield-2"));
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name).toMatch(/^ovn-offload-a{42}-[0-9a-f]{8}$/);
  });

  it("is a valid name if it is cut after a dot", () => {
    expect(ovnOffloadPolicyName(`${"a".repeat(41)}.${"b".repeat(20)}`, "bluefield-3")).toMatch(
      /^ovn-offload-a{41}-[0-9a-f]{8}$/,
    );
  });
});
