// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeState } from "@switchyard/api";
import { nodeDevicePluginConfig } from "@switchyard/render";
import fc from "fast-check";
import { pluginConfig } from "./plugin-config.ts";
import { kernelOf, nodeState, pf } from "./testing/node-state.ts";

function configOf(state: SriovNetworkNodeState, kernel = kernelOf(state)) {
  return pluginConfig(nodeDevicePluginConfig(state).config, kernel);
}

const groups = [
  { resourceName: "b", vfRange: "2-3" },
  { resourceName: "a", vfRange: "0-1" },
];

describe("pluginConfig", () => {
  it("does not depend on the order of resources and VFs in the spec", () => {
    const some = [pf({ spec: { vfGroups: groups } }), pf({ slot: 2 })];
    const others = [pf({ slot: 2 }), pf({ spec: { vfGroups: groups.toReversed() } })];
    expect(configOf(nodeState(others))).toEqual(configOf(nodeState(some)));
  });

  it("has another record if VFs with the same addresses were created or bound again", () => {
    const state = nodeState([pf()]);
    const rebound = kernelOf(state, { "0000:01:10.1": { driver: "igbvf", incarnation: "1.2" } });
    expect(configOf(state, rebound).text).toBe(configOf(state).text);
    expect(configOf(state, rebound).record).not.toBe(configOf(state).record);
  });

  it("ignores VFs that belong to no resource", () => {
    const state = nodeState([pf({ spec: { vfGroups: [{ resourceName: "a", vfRange: "0-0" }] } })]);
    const other = kernelOf(state, { "0000:01:10.1": { driver: "vfio-pci", incarnation: "1.2" } });
    expect(configOf(state, other)).toEqual(configOf(state));
  });

  it("contains a resource that matches no device if there is no other, because the plugin would exit", () => {
    expect(configOf(nodeState([])).text).toBe(
      '{"resourceList":[{"resourceName":"none","selectors":{"pciAddresses":["none"],"IsRdma":false,"NeedVhostNet":false}}]}',
    );
  });

  it("is valid for any spec: known keys, valid names, each name and VF once", () => {
    const anyText = fc.oneof(fc.constantFrom("a", "b", "rdma_a-1", "", "a/b"), fc.string({ unit: "binary" }));
    const group = fc.record(
      {
        resourceName: anyText,
        vfRange: fc.oneof(
          fc.tuple(fc.nat(4), fc.nat(4)).map((ends) => ends.join("-")),
          fc.string(),
        ),
        isRdma: fc.boolean(),
        needVhostNet: fc.boolean(),
        excludeTopology: fc.boolean(),
        vdpaType: fc.constantFrom("virtio" as const, "vhost" as const),
      },
      { requiredKeys: ["resourceName", "vfRange"] },
    );
    const specs = fc.array(fc.array(group, { maxLength: 4 }), { maxLength: 3 });
    const isTaken = fc.property(specs, (vfGroups) => {
      const state = nodeState(vfGroups.map((each, slot) => pf({ slot, spec: { vfGroups: each } })));
      const { resourceList } = JSON.parse(configOf(state).text) as { resourceList: readonly Resource[] };
      expect(resourceList.length).toBeGreaterThan(0);
      expect(new Set(resourceList.map(({ resourceName }) => resourceName)).size).toBe(resourceList.length);
      for (const { resourceName, excludeTopology, selectors, ...unknown } of resourceList) {
        const { pciAddresses, IsRdma, NeedVhostNet, vdpaType, ...others } = selectors;
        expect([unknown, others]).toEqual([{}, {}]);
        expect(resourceName).toMatch(/^[a-zA-Z0-9_-]+$/);
        expect([undefined, true]).toContain(excludeTopology);
        expect([typeof IsRdma, typeof NeedVhostNet]).toEqual(["boolean", "boolean"]);
        expect([undefined, "virtio", "vhost"]).toContain(vdpaType);
        expect(IsRdma === true && vdpaType !== undefined).toBe(false);
        expect(pciAddresses).not.toEqual([]);
        expect(new Set(pciAddresses).size).toBe(pciAddresses.length);
      }
    });
    fc.assert(isTaken);
  });
});

interface Resource {
  readonly resourceName: string;
  readonly excludeTopology?: unknown;
  readonly selectors: Readonly<Record<string, unknown>> & { readonly pciAddresses: readonly string[] };
}
