// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { equalJson, shareEqual, sharingEqual } from "../json/equal-json.ts";
import type { KubeObject } from "../kube-object.ts";

// Few names and values, so that equal parts are generated.
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, 0, 1, "", "a", true, undefined),
    fc.array(tie("value"), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom("a", "b", "__proto__"), tie("value")),
  ),
}));

describe("shareEqual", () => {
  it("is equal to the new value, and is the old value exactly when both are equal", () => {
    const holds = fc.property(value, value, (before, after) => {
      const copies = structuredClone([before, after]);
      const shared = shareEqual(before, after);
      expect(equalJson(shared, after)).toBe(true);
      if (typeof before === "object" && before !== null) expect(shared === before).toBe(equalJson(before, after));
      expect([before, after]).toEqual(copies);
    });
    fc.assert(holds, { numRuns: 2_000 });
  });

  it("shares exactly the parts that did not change", () => {
    const before = { spec: { a: [1, { b: 2 }] }, status: { c: [3] } };
    const shared = shareEqual(before, { spec: { a: [1, { b: 2 }] }, status: { c: [4] } });
    expect(shared).toEqual({ spec: { a: [1, { b: 2 }] }, status: { c: [4] } });
    expect(shared.spec).toBe(before.spec);
  });
});

describe("sharingEqual", () => {
  it("makes a projection that shares unchanged parts", () => {
    const project = sharingEqual(({ kind, metadata: { labels } }: KubeObject) => ({ kind, labels }));
    const object = { apiVersion: "v1", kind: "Node", metadata: { name: "a", labels: { rack: "1" } } };
    const first = project(object, undefined);
    expect(first).toEqual({ kind: "Node", labels: { rack: "1" } });
    expect(project(structuredClone(object), first)).toBe(first);
  });
});
