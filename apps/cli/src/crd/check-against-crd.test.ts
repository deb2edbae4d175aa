// SPDX-License-Identifier: Apache-2.0
/** e2e/integration/cli/validate-corpus.test.ts compares the results with those of an API server. The cases here cannot be tested there. */
import { describe, expect, it } from "@jest/globals";
import { schemas } from "@switchyard/api";
import fc from "fast-check";
import { isJsonObject } from "../json.ts";
import { policy } from "../testing/objects.ts";
import { checkAgainstCrd } from "./check-against-crd.ts";

const kind = "SriovNetworkNodePolicy";
const fieldsOf = (object: ReturnType<typeof policy>, old?: ReturnType<typeof policy>) =>
  checkAgainstCrd(object, { kind, old }).problems.map(({ field }) => field);

describe("checkAgainstCrd", () => {
  it("skips CEL rules if the object does not fit the schema, and says so", () => {
    const { problems } = checkAgainstCrd(policy("a", { resourceName: "a b", numVfs: "4" }), { kind });
    expect(problems.map(({ field }) => field)).toEqual(["spec.numVfs", "<nil>"]);
  });

  it("lets an update keep values that newer rules refuse", () => {
    const old = policy("a", { nicSelector: { vendor: "INTEL" }, deviceType: "vfio-pci", isRdma: true });
    const changed = { ...old, spec: { ...old.spec, numVfs: 5 } };
    expect(fieldsOf(old)).toEqual(["spec.isRdma", "spec.nicSelector.vendor"]);
    expect(fieldsOf(changed, old)).toEqual([]);
  });

  it("refuses a new violation in an update", () => {
    const worse = policy("a", { nicSelector: { vendor: "INTEL" } });
    expect(fieldsOf(worse, policy("a"))).toEqual(["spec.nicSelector.vendor"]);
    expect(fieldsOf(policy("a", { priority: 100 }), policy("a", { priority: 101 }))).toEqual(["spec.priority"]);
  });

  it("accepts any JSON for any kind", () => {
    const keys = fc.constantFrom(...fieldNames(), "__proto__", "constructor", "hasOwnProperty");
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom(null, true, 0, -1, 1.5, 1e300, "", "eth", "15b3", "ens1#0-3", "100%", "{}"),
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.array(fc.tuple(keys, tie("tree")), { maxLength: 6 }).map(Object.fromEntries),
      ),
    }));
    const accepts = fc.property(fc.constantFrom(...Object.keys(schemas)), tree, tree, (any, spec, metadata) => {
      const checked = checkAgainstCrd({ spec, metadata }, { kind: any });
      expect(checked.problems).toEqual(expect.any(Array));
      expect(checkAgainstCrd(checked.object, { kind: any }).object).toEqual(checked.object);
    });
    fc.assert(accepts, { numRuns: 2000 });
  });
});

function fieldNames(): readonly string[] {
  const names = new Set<string>();
  const visit = (schema: unknown): void => {
    if (typeof schema !== "object" || schema === null) return;
    for (const [key, member] of Object.entries(schema)) {
      if (key === "properties") for (const name of isJsonObject(member) ? Object.keys(member) : []) names.add(name);
      visit(member);
    }
  };
  visit(schemas);
  return [...names];
}
