// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { hasLabels } from "@switchyard/policy";
import fc from "fast-check";
import type { NodeFacts } from "./node-facts.ts";
import { countNodes, namesOf, sortsOf } from "./node-sorts.ts";
import { node, pf, vfs } from "./testing/objects.ts";

const bare = (own: NodeFacts["labels"], index = 0): NodeFacts => ({ name: `w${index}`, labels: own });

describe("sortsOf", () => {
  const labels = fc.dictionary(fc.constantFrom("a", "b", "c", "__proto__"), fc.constantFrom("", "x", "y\n=z"));

  it("puts together what no selector tells apart", () => {
    const property = fc.property(fc.array(labels), fc.array(labels), (all, selectors) => {
      const nodes = all.map(bare);
      const sorts = sortsOf(nodes, selectors);
      expect([...namesOf(sorts)].sort()).toEqual(nodes.map(({ name }) => name).sort());
      expect(countNodes(sorts)).toBe(nodes.length);
      for (const sort of sorts) {
        for (const one of sort.nodes) {
          const answers = (of: Readonly<Record<string, string>>) =>
            selectors.map((selector) => hasLabels(of, selector));
          expect(answers(one.labels)).toEqual(answers(sort.labels));
        }
      }
    });
    fc.assert(property);
  });

  it("says the same the second time, whatever was asked in between", () => {
    const property = fc.property(fc.array(labels), fc.array(fc.array(labels), { maxLength: 30 }), (all, questions) => {
      const nodes = all.map(bare);
      for (const selectors of questions) expect(sortsOf(nodes, selectors)).toEqual(sortsOf([...nodes], selectors));
    });
    fc.assert(property);
  });

  it("is one sort where nobody asks", () => {
    expect(sortsOf([bare({ a: "1" }), bare({ a: "2" })], [{}])).toHaveLength(1);
  });

  it("keeps apart what is in another state, but not what has other addresses", () => {
    const some = pf({ numVfs: 4, Vfs: vfs(4) });
    const nodes = [
      node("w1", [some]),
      node("w2", [{ ...some, mac: "02:00:00:00:00:77" }]),
      node("w3", [pf()]),
      node("w4"),
    ];
    expect(sortsOf(nodes, [{}]).map((sort) => namesOf([sort]))).toEqual([["w1", "w2"], ["w3"], ["w4"]]);
  });
});
