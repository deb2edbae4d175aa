// SPDX-License-Identifier: Apache-2.0
/** Agreement with a real API server is proved by e2e/integration/cli-corpus.test.ts; here is what that cannot ask. */
import { describe, expect, it } from "@jest/globals";
import { schemas } from "@switchyard/api";
import fc from "fast-check";
import { isJsonObject } from "../json.ts";
import { policy } from "../testing/objects.ts";
import { judgeByCrd } from "./judge-by-crd.ts";

const kind = "SriovNetworkNodePolicy";
const fieldsOf = (object: ReturnType<typeof policy>, old?: ReturnType<typeof policy>) =>
  judgeByCrd(object, { kind, old }).problems.map(({ field }) => field);

describe("judgeByCrd", () => {
  it("leaves rules out where the schema is broken, and says so", () => {
    const { problems } = judgeByCrd(policy("a", { resourceName: "a b", numVfs: "4" }), { kind });
    expect(problems.map(({ field }) => field)).toEqual(["spec.numVfs", "<nil>"]);
  });

  it("lets an update keep what newer rules refuse", () => {
    const old = policy("a", { nicSelector: { vendor: "INTEL" }, deviceType: "vfio-pci", isRdma: true });
    const changed = { ...old, spec: { ...old.spec, numVfs: 5 } };
    expect(fieldsOf(old)).toEqual(["spec.isRdma", "spec.nicSelector.vendor"]);
    expect(fieldsOf(changed, old)).toEqual([]);
  });

  it("refuses in an update what is changed for the worse", () => {
    const worse = policy("a", { nicSelector: { vendor: "INTEL" } });
    expect(fieldsOf(worse, policy("a"))).toEqual(["spec.nicSelector.vendor"]);
    expect(fieldsOf(policy("a", { priority: 100 }), policy("a", { priority: 101 }))).toEqual(["spec.priority"]);
  });

  it("judges any JSON of any kind", () => {
    const keys = fc.constantFrom(...fieldNames(), "__proto__", "constructor", "hasOwnProperty");
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom(null, true, 0, -1, 1.5, 1e300, "", "eth", "15b3", "ens1#0-3", "100%", "{}"),
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.array(fc.tuple(keys, tie("tree")), { maxLength: 6 }).map(Object.fromEntries),
      ),
    }));
    const judges = fc.property(fc.constantFrom(...Object.keys(schemas)), tree, tree, (any, spec, metadata) => {
      const judged = judgeByCrd({ spec, metadata }, { kind: any });
      expect(judged.problems).toEqual(expect.any(Array));
      expect(judgeByCrd(judged.object, { kind: any }).object).toEqual(judged.object);
    });
    fc.assert(judges, { numRuns: 2000 });
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
