// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { advisedReasons } from "../diagnosis/condition-advice.ts";
import { meaningOfReason } from "../diagnosis/rules/conditions.ts";
import { explainedNames, explainName } from "./explain.ts";
import { runCli } from "../testing/run-cli.ts";

const folder = join(import.meta.dirname, "../../../../docs/reference");
/** First cells of the tables in the pages of the reference: what users can search there. */
const documented = ["conditions", "events", "findings", "metrics"].flatMap((page) =>
  [...readFileSync(join(folder, `${page}.md`), "utf8").matchAll(/^\| `(\w+)` \|/gm)].map(([, name = ""]) => name),
);

describe("switchyard explain", () => {
  it("describes each name of the reference, and no other", () => {
    expect(new Set(documented).size).toBeGreaterThan(140);
    expect([...new Set(documented)].sort()).toEqual(explainedNames());
  });

  it("has a meaning for each reason with advice", () => {
    const without = advisedReasons().filter(({ table, reason }) => !meaningOfReason(table, reason));
    expect(without).toEqual([]);
    expect(advisedReasons().length).toBeGreaterThan(30);
  });

  it.each([
    { name: "StepFailed", says: "REASON:   StepFailed\n  A configuration step failed; lastSyncError has the error." },
    { name: "ResourceOnNoNode", says: "FINDING:  ResourceOnNoNode (error)\n  No node offers the resource" },
    { name: "RebootNode", says: "EVENT:    RebootNode (Normal)\n" },
    { name: "switchyard_steps_total", says: "Labels: kind, outcome" },
    { name: "DrainDegraded", says: "CONDITION: DrainDegraded\n" },
  ])("describes $name", async ({ name, says }) => {
    expect(await runCli(["explain", name])).toMatchObject({ code: 0, out: expect.stringContaining(says) });
  });

  it("describes all meanings of a name", () => {
    expect(explainName("NotPossible")?.match(/^REASON: /gm)).toHaveLength(3);
  });

  it.each([
    { text: "StepFaild", hint: 'unknown name "StepFaild"; did you mean StepFailed?' },
    { text: "numvfs", hint: "did you mean SriovNetworkNodePolicy.spec.numVfs?" },
    { text: "spec.numVfs", hint: "did you mean SriovNetworkNodePolicy.spec.numVfs?" },
    { text: "sriovnetworknodepolcy", hint: "did you mean SriovNetworkNodePolicy?" },
    { text: "drain", hint: "names with it are " },
    { text: "sriovnetworknodepolicy.spec.nicSelector.pfName", hint: "did you mean pfNames?" },
    { text: "gobbledygook", hint: "kinds are SriovNetworkNodePolicy, " },
  ])("suggests what was meant by $text", async ({ text, hint }) => {
    expect(await runCli(["explain", text])).toMatchObject({ code: 64, err: expect.stringContaining(hint) });
  });

  it("knows kinds, fields and names in upper and lower case, and fills no placeholder", async () => {
    const field = await runCli(["explain", "SRIOVNETWORKNODEPOLICY.spec.nicselector.pfnames"]);
    expect(field).toMatchObject({ code: 0, out: expect.stringContaining("FIELD: pfNames <[]string>") });
    const { out } = await runCli(["explain", "nonicsmatched"]);
    expect(out).toContain("Next: kubectl -n NAMESPACE describe RESOURCE NAME");
  });
});
