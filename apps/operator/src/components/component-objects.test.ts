// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { componentInventory } from "@switchyard/render";
import { groupByWatch, toSeenObject } from "./component-objects.ts";

const object = (managers: readonly string[], owners: readonly string[] = []) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: {
    name: "a",
    managedFields: managers.map((manager) => ({ manager, operation: "Update" })),
    ownerReferences: owners.map((kind) => ({ apiVersion: "v1", kind, name: "o", uid: "1" })),
  },
});

describe("toSeenObject", () => {
  it.each([
    { what: "ours", seen: object(["switchyard-components"]), isDeployed: true },
    { what: "upstream's", seen: object(["sriov-network-operator"]), isDeployed: true },
    { what: "owned by a SriovOperatorConfig", seen: object([], ["SriovOperatorConfig"]), isDeployed: true },
    { what: "of another client", seen: object(["kubectl"], ["Deployment"]), isDeployed: false },
    { what: "nobody's", seen: object([]), isDeployed: false },
  ])("reports whether an operator deployed the object: $what", ({ seen, isDeployed }) => {
    expect(toSeenObject(seen).isDeployed).toBe(isDeployed);
  });
});

describe("groupByWatch", () => {
  it("covers the whole inventory, with one watch for each cluster-scoped object", () => {
    const inventory = componentInventory({ namespace: "ns" });
    const groups = groupByWatch(inventory);
    expect(groups.flatMap(({ items }) => items).length).toBe(inventory.length);
    const mixed = groups.filter(({ items }) => items.length > 1 && items.some((item) => item.namespace === undefined));
    expect(mixed).toEqual([]);
    const kinds = groups.filter(({ items: [first] }) => first.namespace !== undefined).map(({ type }) => type.kind);
    expect(new Set(kinds).size).toBe(kinds.length);
  });
});
