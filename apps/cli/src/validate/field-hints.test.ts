// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { checkAgainstCrd } from "../crd/check-against-crd.ts";
import { fieldHints } from "./field-hints.ts";

function hintsOf(kind: string, spec: unknown): readonly string[] {
  const apiVersion = "sriovnetwork.openshift.io/v1";
  const object = { apiVersion, kind, metadata: { name: "x", namespace: "sriov-network-operator" }, spec };
  const manifest = { apiVersion, kind, name: "x", namespace: "sriov-network-operator", origin: "x.yaml:1", object };
  return fieldHints(manifest, checkAgainstCrd(object, { kind }));
}

const policy = { resourceName: "fast", numVfs: 2, nicSelector: { vendor: "8086" }, nodeSelector: { a: "b" } };

describe("fieldHints", () => {
  it.each<{ kind: string; spec: object; hints: readonly string[] }>([
    {
      kind: "SriovNetworkPoolConfig",
      spec: { nodeSelector: { "node-role.kubernetes.io/worker": "" } },
      hints: ["spec.nodeSelector is a label selector: write its labels under spec.nodeSelector.matchLabels"],
    },
    {
      kind: "SriovNetworkNodePolicy",
      spec: { ...policy, isRDMA: true, nicSelector: { pfName: ["ens1f0"] } },
      hints: [
        "did you mean spec.isRdma instead of spec.isRDMA?",
        "did you mean spec.nicSelector.pfNames instead of spec.nicSelector.pfName?",
      ],
    },
    {
      kind: "SriovNetworkNodePolicy",
      spec: { ...policy, bridge: { ovs: { bridge: { name: "br1" } } } },
      hints: ["a bridge cannot be given a name: Switchyard names it after its PF; spec.bridge.ovs: {} creates it"],
    },
    {
      kind: "SriovNetworkNodePolicy",
      spec: { ...policy, numVfs: "4", nicSelector: { vendor: 8086, pfNames: "ens1f0" } },
      hints: [
        'spec.nicSelector.vendor is a text: write it in quotes, as in vendor: "8086"',
        'spec.nicSelector.pfNames is a list: write each value on a line of its own after "- "',
        "write numVfs: 4 without quotes",
      ],
    },
    {
      kind: "SriovNetwork",
      spec: { resourceName: "fast", trust: true, spoofChk: false },
      hints: [
        'YAML reads on and off as true and false: write them in quotes, as in spoofChk: "off"',
        'YAML reads on and off as true and false: write them in quotes, as in trust: "on"',
      ],
    },
    {
      kind: "SriovNetwork",
      spec: { resourceName: "fast", ipam: { type: "host-local" } },
      hints: [
        'spec.ipam is a text: write its JSON in single quotes, as in ipam: \'{"type": "host-local"}\', or as a block after "ipam: |"',
      ],
    },
    {
      kind: "SriovNetworkNodePolicy",
      spec: { resourceName: "fast", numVfs: "max", nicSelector: { vendor: "8086" } },
      hints: [
        'write nodeSelector: { node-role.kubernetes.io/worker: "" }, or other labels of the nodes',
        "spec.numVfs is one number of VFs (switchyard nics shows how many each port supports), without quotes and without a unit",
      ],
    },
    {
      kind: "SriovNetwork",
      spec: { resourceName: "fast", maxTxRate: "10G" },
      hints: ["spec.maxTxRate is one number of Mb/s (10000 for 10 Gb/s), without quotes and without a unit"],
    },
    {
      kind: "OVSNetwork",
      spec: { resourceName: "fast", vlan: "100-200" },
      hints: [
        "spec.vlan is one number from 0 to 4094, without quotes and without a unit; several VLANs are spec.trunk: [{ minID: 100, maxID: 200 }]",
      ],
    },
    {
      kind: "SriovOperatorConfig",
      spec: { logLevel: "debug", ovnHardwareOffload: true },
      hints: [
        "spec.logLevel is one number from 0 to 2 (the larger, the more is logged), without quotes and without a unit",
        'spec.ovnHardwareOffload is a list of objects with the fields nodeSelector, taint: begin each with "- "',
      ],
    },
    {
      kind: "OVSNetwork",
      spec: { resourceName: "fast", trunk: [20, 30] },
      hints: [
        "spec.trunk[0] is an object with the fields minID, maxID, id",
        "spec.trunk[1] is an object with the fields minID, maxID, id",
      ],
    },
  ])("of a $kind", ({ kind, spec, hints }) => {
    expect([...hintsOf(kind, spec)].sort()).toEqual([...hints].sort());
  });

  it("lists the fields if none has a name like it", () => {
    expect(hintsOf("SriovNetwork", { resourceName: "fast", zzzzzzzz: 1 })).toEqual([
      expect.stringMatching(/^spec has the fields .*resourceName/),
    ]);
  });

  it.each([
    { nodeSelector: { matchLabels: { "a.b/c": 5 } } },
    { nodeSelector: { matchLabels: ["a"] } },
    { nodeSelector: [{ a: { b: [] } }] },
    "text",
    [1],
    null,
  ])("ends for any shape: %j", (spec) => {
    expect(hintsOf("SriovNetworkPoolConfig", spec)).toEqual(expect.any(Array));
  });
});
