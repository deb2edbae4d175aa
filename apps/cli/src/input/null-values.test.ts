// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { nullValues } from "./null-values.ts";
import { parseManifests } from "./parse-manifests.ts";

const head = "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\nmetadata: {name: a}\n";

function nullsIn(text: string) {
  return parseManifests(text, "p.yaml").manifests.flatMap(nullValues);
}

describe("nullValues", () => {
  it("finds the line of a label without a value", () => {
    expect(nullsIn(`${head}spec:\n  numVfs: 2\n  nodeSelector:\n    rack: "7"\n    example.com/gpu-rack:\n`)).toEqual([
      { field: "spec.nodeSelector.example.com/gpu-rack", place: "p.yaml:8", inSelector: true },
    ]);
  });

  it.each([
    {
      form: "comments",
      text: `# a policy\n---\n# with\n${head}spec:\n  nicSelector:\n    pfNames: # later\n`,
      line: 9,
    },
    { form: "flow style", text: `${head}spec:\n  nicSelector: {vendor: "15b3",\n    pfNames: null}\n`, line: 6 },
    { form: "a tilde", text: `${head}spec:\n  nicSelector:\n    pfNames: ~\n`, line: 6 },
    {
      form: "JSON",
      text: '{"apiVersion":"a/v1","kind":"P",\n"metadata":{"name":"a"},\n"spec":{"nicSelector":{"pfNames":null}}}',
      line: 3,
    },
    {
      form: "the second document",
      text: `${head}---\n${head}spec:\n  nicSelector:\n    pfNames:\n`,
      line: 10,
    },
    {
      form: "an item of a list",
      text: `apiVersion: v1\nkind: List\nitems:\n- ${`${head}spec:\n  nicSelector:\n    pfNames:\n`.replaceAll("\n", "\n  ")}`,
      line: 9,
    },
    { form: "an alias", text: `${head}any: &nics\n  pfNames:\nspec:\n  nicSelector: *nics\n`, line: 5 },
  ])("finds the line in a text with $form", ({ text, line }) => {
    expect(nullsIn(text)).toEqual([{ field: "spec.nicSelector.pfNames", place: `p.yaml:${line}`, inSelector: true }]);
  });

  it("finds null values in lists and outside of selectors, and those of the object itself are no concern", () => {
    const text = `${head}spec:\n  mtu:\n  nodeSelector:\n    matchExpressions:\n    - key: a\n      values:\nstatus:\n`;
    expect(nullsIn(text)).toEqual([
      { field: "spec.mtu", place: "p.yaml:5", inSelector: false },
      { field: "spec.nodeSelector.matchExpressions[0].values", place: "p.yaml:9", inSelector: true },
    ]);
  });
});
