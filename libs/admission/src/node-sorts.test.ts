// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { hasLabels } from "@switchyard/policy";
import fc from "fast-check";
import { sortsOf } from "./node-sorts.ts";

describe("sortsOf", () => {
  it("puts together what no selector tells apart", () => {
    const labels = fc.dictionary(fc.constantFrom("a", "b", "c", "__proto__"), fc.constantFrom("", "x", "y\n=z"));
    const property = fc.property(fc.array(labels), fc.array(labels), (all, selectors) => {
      const nodes = all.map((own) => ({ labels: own }));
      const sorts = sortsOf(nodes, selectors);
      expect(sorts.flatMap((sort) => sort.nodes)).toHaveLength(nodes.length);
      for (const sort of sorts) {
        for (const node of sort.nodes) {
          const answers = (of: Readonly<Record<string, string>>) =>
            selectors.map((selector) => hasLabels(of, selector));
          expect(answers(node.labels)).toEqual(answers(sort.labels));
        }
      }
    });
    fc.assert(property);
  });

  it("is one sort where nobody asks", () => {
    expect(sortsOf([{ labels: { a: "1" } }, { labels: { a: "2" } }], [{}])).toHaveLength(1);
  });
});
