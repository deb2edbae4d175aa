// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { checkWorkflow, knownActions } from "./check-workflow.ts";

const { commit, version } = knownActions["actions/checkout"] ?? { commit: "", version: "" };
const good = `name: good
on: { push: { branches: [main] } }
permissions: { contents: read }
concurrency: { group: good }
jobs:
  work:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    steps:
      - uses: actions/checkout@${commit} # ${version}
        with: { persist-credentials: false }
      - run: npm run build
`;

const check = (text: string) => checkWorkflow({ file: "x.yml", text, scripts: ["build"] });

describe("checkWorkflow", () => {
  it("accepts a workflow that is correct", () => {
    expect(check(good)).toEqual([]);
  });

  it.each([
    {
      does: "an action at a tag",
      from: `@${commit}`,
      to: "@v5",
      problem: `x.yml:10: actions/checkout must be at commit`,
    },
    { does: "a wrong comment", from: `# ${version}`, to: "# v1", problem: "x.yml:10: the comment of actions/checkout" },
    { does: "an unknown action", from: "actions/checkout@", to: "someone/else@", problem: "someone/else is not in" },
    {
      does: "kept credentials",
      from: "persist-credentials: false",
      to: "fetch-depth: 0",
      problem: "persist-credentials",
    },
    {
      does: "no limit of rights",
      from: "permissions: { contents: read }\n",
      to: "",
      problem: "x.yml:1: the workflow must",
    },
    {
      does: "rights for all jobs",
      from: "{ contents: read }",
      to: "{ contents: write }",
      problem: "a job asks for more",
    },
    { does: "write-all", from: "{ contents: read }", to: "write-all", problem: "a job asks for more" },
    { does: "no time limit", from: "    timeout-minutes: 5\n", to: "", problem: "job work must have timeout-minutes" },
    { does: "no concurrency", from: "concurrency: { group: good }\n", to: "", problem: "concurrency group" },
    { does: "an unknown script", from: "npm run build", to: "npm run biuld", problem: 'no script "biuld"' },
    {
      does: "a spliced title",
      from: "npm run build",
      to: "echo '${{ github.event.pull_request.title }}'",
      problem: "must not be part of a script",
    },
  ])("reports $does", ({ from, to, problem }) => {
    const bad = good.replace(from, to);
    expect(bad).not.toBe(good);
    expect(check(bad).join("\n")).toContain(problem);
  });

  it("reports text that is not YAML", () => {
    expect(check("name: [").join("\n")).toContain("x.yml");
  });
});
