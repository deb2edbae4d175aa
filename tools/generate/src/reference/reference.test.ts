// SPDX-License-Identifier: Apache-2.0
/** The reference has all that the code has, and nothing else. The code is searched here by patterns, not by its syntax tree. */
import { describe, expect, it } from "@jest/globals";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { alertsFile, recordingRules } from "./alerts-page.ts";
import { reasonTables } from "./conditions-page.ts";
import { errorClasses } from "./errors-page.ts";
import { eventSites } from "./events-page.ts";
import { parseHelp, servicesOf } from "./flags-page.ts";
import { metricsIn } from "./metrics-page.ts";
import { parseSource, readSources } from "./sources.ts";

const root = join(import.meta.dirname, "../../../..");
const sources = readSources(root);
/** The sources without comments. */
const code = sources.map(({ tree }) => tree.text.replaceAll(/\/\*[\s\S]*?\*\//g, ""));
const withFlags = code.filter((text) => /\bflag\(/.test(text));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** First groups of a pattern in all sources, sorted, each once. */
function matches(pattern: RegExp, some: readonly string[] = code): readonly string[] {
  return [...new Set(some.flatMap((text) => [...text.matchAll(pattern)].map(([, group = ""]) => group)))].toSorted();
}

describe("flags.md", () => {
  const page = read("docs/reference/flags.md");

  it("has the environment variable of each flag, and no other", () => {
    const shown = new Set(
      page
        .split("\n")
        .filter((line) => line.startsWith("| `--"))
        .map((line) => line.split(/(?<!\\)\|/)[3]?.replaceAll(/[ `]/g, "")),
    );
    const inCode = matches(/\benv: "(\w+)"/g, withFlags);
    expect(inCode.length).toBeGreaterThan(30);
    expect(inCode.filter((name) => !shown.has(name))).toEqual([]);
    // Variables of images have a table of their own in libs/render.
    expect([...shown].filter((name) => !code.some((text) => text.includes(`"${name ?? ""}"`)))).toEqual([]);
  });

  it("has a section for each service", () => {
    expect(servicesOf(root).filter((app) => !page.includes(`\n## ${app}\n`))).toEqual([]);
  });

  it("reads what --help prints, also if it is wrapped", () => {
    const help = [
      "Usage: operator [FLAG...]",
      "",
      "Merges policies and",
      "reports the result.",
      "",
      "Flags:",
      "  --namespace NAMESPACE",
      "      The operator's own (not the pods'). (required, env",
      "      NAMESPACE)",
      "  --wait",
      "      Waits. (default a, b, env WAIT)",
      "  -h, --help",
      "      Print this text and exit.",
    ].join("\n");
    expect(parseHelp(help)).toEqual({
      summary: "Merges policies and reports the result.",
      flags: [
        {
          flag: "--namespace",
          value: "NAMESPACE",
          help: "The operator's own (not the pods').",
          env: "NAMESPACE",
          isRequired: true,
          default: "",
        },
        { flag: "--wait", value: "", help: "Waits.", isRequired: false, default: "a, b", env: "WAIT" },
      ],
    });
    expect(parseHelp("operator: Merges policies.\n\nUsage: operator [flags]\n\n")).toEqual({
      summary: "Merges policies.",
      flags: [],
    });
  });
});

describe("conditions.md", () => {
  const tables = reasonTables(sources);

  it("has each type and reason", () => {
    const inCode = matches(
      /^ {2}\w+: "([A-Z]\w+)",$/gm,
      globSync("libs/api/src/**/condition-types.ts", { cwd: root }).map(read),
    );
    expect(matches(/^\| `(\w+)` \|/gm, [read("docs/reference/conditions.md")])).toEqual(inCode);
  });

  it.each(tables)("$name: each has a meaning and is used", ({ entries }) => {
    expect(entries.filter(({ doc }) => doc === "").map(({ value }) => `${value} has no JSDoc`)).toEqual([]);
    expect(entries.filter(({ files }) => files.length === 0).map(({ value }) => `${value} is not used`)).toEqual([]);
  });
});

describe("events.md", () => {
  it("has each reason that an event names itself, and no other", () => {
    const inCode = matches(/(?:type: "(?:Normal|Warning)",\s+reason:|\b(?:normal|warning)\()\s*"([A-Z]\w+)"/g);
    expect(matches(/^\| `(\w+)` \|/gm, [read("docs/reference/events.md")])).toEqual(inCode);
  });

  it("finds the events of a source", () => {
    const text = `
      function normal(reason: string, note: string) { return { type: "Normal", reason, note }; }
      const note = done ? \`node \${name} is drained\` : "nothing to drain";
      tell(state, { type: "Warning", reason: "DrainStuck", note });
      tell(state, normal("DrainStarted", condition.message));
      record({ type: state === "degraded" ? "Warning" : "Normal", reason, note: message });
    `;
    const path = "apps/x/src/y.ts";
    expect(eventSites([{ path, tree: parseSource(path, text) }])).toEqual([
      { type: "Warning", reason: "DrainStuck", notes: ["node … is drained", "nothing to drain"], path },
      { type: "Normal", reason: "DrainStarted", notes: [], path },
      { type: "Normal, Warning", reason: undefined, notes: [], path },
    ]);
  });
});

describe("metrics.md", () => {
  const metrics = metricsIn(sources);

  it("has each metric, with a meaning, and no other", () => {
    const inCode = matches(/\bname: "((?:switchyard|process|nodejs)_\w+)"/g);
    expect(matches(/^\| `(\w+)` \|/gm, [read("docs/reference/metrics.md")])).toEqual(inCode);
    expect(metrics.filter(({ help }) => help === "")).toEqual([]);
    expect(metrics.filter(({ labels }) => labels.includes("…"))).toEqual([]);
  });

  it("has each metric that alerts and dashboards use", () => {
    const files = globSync("charts/switchyard/{alerts,dashboards}/*", { cwd: root }).map(read);
    const known = new Set(metrics.map(({ name }) => name));
    const used = matches(/\b(switchyard_[a-z_]*[a-z])\b/g, files).map((name) =>
      name.replace(/_(?:bucket|sum|count)$/, ""),
    );
    expect(used.filter((name) => !known.has(name))).toEqual([]);
  });
});

describe("alerts.md", () => {
  it("has each alert, and no other", () => {
    const inChart = matches(/alert: (\w+)/g, [read(alertsFile)]);
    expect(matches(/^## (\w+)$/gm, [read("docs/reference/alerts.md")])).toEqual(inChart);
  });

  it("has the recording rules, one for each item of a list", () => {
    const text =
      'const counters = ["rx", "tx"];\nconst rules = counters.map((it) => ({ record: `vf_${it}`, expr: it }));\n';
    const path = "libs/x/src/y.ts";
    const rules = recordingRules([{ path, tree: parseSource(path, text) }]).map(({ record }) => record);
    expect(rules).toEqual(["vf_rx", "vf_tx"]);
    expect(recordingRules(sources).filter(({ record }) => record.includes("…"))).toEqual([]);
  });
});

describe("errors.md", () => {
  const page = read("docs/reference/errors.md");

  it("has each error class, and no other", () => {
    const [classes = ""] = page.split("## Exit codes");
    expect(matches(/^### (\w+)$/gm, [classes])).toEqual(matches(/^(?:export )?class (\w+) extends Error\b/gm));
  });

  it("has the codes of a class, from its field or from a type", () => {
    const text = `
      /** usage: wrong flags. */
      export type XCode = "usage" | "gone";
      export type YCode =
        /** No answer. */
        | "lost"
        /** No JSON. */
        | "odd";
      /** X failed. */
      export class XError extends Error { readonly code: XCode; }
      export class YError extends Error {
        /** Or the server's. */
        readonly code: YCode | (string & {});
      }
    `;
    const path = "libs/x/src/y.ts";
    expect(errorClasses([{ path, tree: parseSource(path, text) }])).toEqual([
      {
        name: "XError",
        doc: "X failed.",
        path,
        codeDoc: "usage: wrong flags.",
        codes: [
          { code: "usage", doc: "" },
          { code: "gone", doc: "" },
        ],
      },
      {
        name: "YError",
        doc: "",
        path,
        codeDoc: "Or the server's.",
        codes: [
          { code: "lost", doc: "No answer." },
          { code: "odd", doc: "No JSON." },
        ],
      },
    ]);
  });
});
