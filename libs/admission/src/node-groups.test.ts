// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { hasLabels } from "@switchyard/policy";
import fc from "fast-check";
import type { NodeForReview } from "./node-for-review.ts";
import { countNodes, createNodeGrouping, groupNodes, namesOf } from "./node-groups.ts";
import { node, pf, vfs } from "./testing/objects.ts";

const bare = (own: NodeForReview["labels"], index = 0): NodeForReview => ({ name: `w${index}`, labels: own });

describe("groupNodes", () => {
  const labels = fc.dictionary(fc.constantFrom("a", "b", "c", "__proto__"), fc.constantFrom("", "x", "y\n=z"));

  it("groups nodes that no selector distinguishes", () => {
    const property = fc.property(fc.array(labels), fc.array(labels), (all, selectors) => {
      const nodes = all.map(bare);
      const groups = groupNodes(nodes, selectors);
      expect([...namesOf(groups)].sort()).toEqual(nodes.map(({ name }) => name).sort());
      expect(countNodes(groups)).toBe(nodes.length);
      for (const group of groups) {
        for (const one of group.nodes) {
          const answers = (of: Readonly<Record<string, string>>) =>
            selectors.map((selector) => hasLabels(of, selector));
          expect(answers(one.labels)).toEqual(answers(group.labels));
        }
      }
    });
    fc.assert(property);
  });

  it("returns the same groups with a memory as without one", () => {
    const property = fc.property(fc.array(labels), fc.array(fc.array(labels), { maxLength: 30 }), (all, questions) => {
      const nodes = all.map(bare);
      const remembering = createNodeGrouping();
      for (const selectors of questions) expect(remembering(nodes, selectors)).toEqual(groupNodes(nodes, selectors));
    });
    fc.assert(property);
  });

  it("returns one group if no selector uses a label", () => {
    expect(groupNodes([bare({ a: "1" }), bare({ a: "2" })], [{}])).toHaveLength(1);
  });

  it("separates nodes with different states, but not nodes with different addresses", () => {
    const some = pf({ numVfs: 4, Vfs: vfs(4) });
    const nodes = [
      node("w1", [some]),
      node("w2", [{ ...some, mac: "02:00:00:00:00:77" }]),
      node("w3", [pf()]),
      node("w4"),
    ];
    expect(groupNodes(nodes, [{}]).map((group) => namesOf([group]))).toEqual([["w1", "w2"], ["w3"], ["w4"]]);
  });
});
