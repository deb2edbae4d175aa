// SPDX-License-Identifier: Apache-2.0
/** The reference has all that the code has, and nothing else. The code is searched here by patterns, not by its syntax tree. */
import { describe, expect, it } from "@jest/globals";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { requireDescriptions } from "../structural.ts";
import { alertPages } from "./alert-pages.ts";
import { alertsFile, alertsIn, recordingRules } from "./alerts-page.ts";
import { reasonTables } from "./conditions-page.ts";
import { documentedEvents, eventSites } from "./events-page.ts";
import { findingsIn } from "./findings-page.ts";
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

  it.each(tables)("$name: each is used", ({ name, entries }) => {
    const apps = sources.filter(({ path }) => !path.startsWith("libs/api/")).map(({ tree }) => tree.text);
    const users = apps.filter((text) => text.includes(name));
    const unused = entries.filter(({ key }) => !users.some((text) => new RegExp(`\\b${key}\\b`).test(text)));
    expect(unused.map(({ value }) => `${value} is not used`)).toEqual([]);
  });

  it.each([
    { lacks: "what to do", text: '/** It hangs. */ hangs: "Hangs",', error: "has no @remedy that says what to do" },
    { lacks: "when it is set", text: 'hangs: "Hangs",', error: "has no comment that says when it is set" },
    {
      lacks: "a text that fits",
      text: `/** ${"x".repeat(161)}\n * @remedy Wait. */ hangs: "Hangs",`,
      error: "has a text of 161 characters; at most 160 fit in a table",
    },
  ])("refuses a reason without $lacks", ({ text, error }) => {
    const path = "libs/api/src/condition-types.ts";
    const tree = parseSource(path, `/** Reasons. */ export const stepReasons = {\n${text}\n} as const;`);
    expect(() => reasonTables([{ path, tree }])).toThrow(`${path}: stepReasons.hangs ${error}`);
  });
});

describe("events.md", () => {
  const definitions = "libs/api/src/event-reasons.ts";
  const started = '/** It begins.\n * @remedy Nothing. */ started: "Started",';

  function eventsIn(text: string): ReturnType<typeof documentedEvents> {
    const texts = { [definitions]: `export const eventReasons = {\n${started}\n} as const;`, "apps/x/src/y.ts": text };
    return documentedEvents(Object.entries(texts).map(([path, each]) => ({ path, tree: parseSource(path, each) })));
  }

  it("has each reason that an event names itself, and no other", () => {
    const inCode = matches(/^ {2}\w+: "([A-Z]\w+)",$/gm, [read(definitions)]);
    expect(matches(/^\| `(\w+)` \|/gm, [read("docs/reference/events.md")])).toEqual(inCode);
  });

  it("finds the events of a source", () => {
    const text = `
      function normal(reason: string, note: string) { return { type: "Normal", reason, note }; }
      tell(state, { type: "Warning", reason: "DrainStuck", note });
      tell(state, normal(eventReasons.drainStarted, condition.message));
      record({ type: state === "degraded" ? "Warning" : "Normal", reason, note: message });
    `;
    const path = "apps/x/src/y.ts";
    expect(eventSites([{ path, tree: parseSource(path, text) }])).toEqual([
      { type: "Warning", reason: "DrainStuck", path },
      { type: "Normal", reason: "eventReasons.drainStarted", path },
      { type: "Normal, Warning", reason: undefined, path },
    ]);
  });

  it("has the type of an event, when it occurs, and what to do", () => {
    const events = eventsIn("warning(eventReasons.started, note)");
    expect(events).toEqual([{ name: "Started", type: "Warning", when: "It begins.", remedy: "Nothing." }]);
  });

  it.each([
    { what: "an event without a text", made: 'normal("Lost", note)', error: "records the event Lost, which is not in" },
    { what: "an event with a reason that is no constant", made: "normal(why, note)", error: "is not a constant" },
    { what: "a text without an event", made: "", error: "has the reason Started, and no program records" },
  ])("refuses $what", ({ made, error }) => {
    expect(() => eventsIn(made)).toThrow(error);
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

describe("the generator", () => {
  const source = (path: string, text: string) => [{ path, tree: parseSource(path, text) }];

  it("refuses a metric without a help", () => {
    const counter = (more: string) => source("libs/x/src/y.ts", `const a = new Counter({ name: "a_total"${more} });`);
    expect(metricsIn(counter(', help: "Things."'))).toMatchObject([{ name: "a_total", help: "Things." }]);
    expect(() => metricsIn(counter(""))).toThrow("libs/x/src/y.ts: metric a_total has no help");
  });

  it("refuses a finding without a cause or a next command", () => {
    const catalogue = (more: string) =>
      source("apps/cli/src/diagnosis/finding-catalogue.ts", `const all = { Asleep: { severity: "error"${more} } };`);
    expect(findingsIn(catalogue(', cause: "It sleeps.", next: "kubectl get pods"'))).toHaveLength(1);
    expect(() => findingsIn(catalogue(', next: "kubectl get pods"'))).toThrow("Asleep has no cause");
    expect(() => findingsIn(catalogue(', cause: "It sleeps."'))).toThrow("Asleep has no cause, or no next command");
  });

  it("refuses a field without a description, at any depth", () => {
    const described = { type: "string", description: "A name." } as const;
    const nested = (name: object) => ({
      type: "object" as const,
      properties: {
        list: {
          type: "array" as const,
          description: "A list.",
          items: { type: "object" as const, properties: { name } },
        },
      },
    });
    expect(() => {
      requireDescriptions("Kind", nested(described));
    }).not.toThrow();
    expect(() => {
      requireDescriptions("Kind", nested({ type: "string" }));
    }).toThrow("Kind.list[].name has no comment");
  });

  it("refuses an alert without a page or without the address of its page", () => {
    const alert = { group: "a", alert: "SwitchyardNew", expr: "up == 0", labels: {}, annotations: {} };
    expect(() => alertPages([...alertsIn(read(alertsFile)), alert], [])).toThrow(
      "SwitchyardNew has no entry in runbooks",
    );
    const [known, ...others] = alertsIn(read(alertsFile));
    if (known === undefined) throw new Error("there is no alert");
    expect(() => alertPages([{ ...known, annotations: {} }, ...others], [])).toThrow("has no annotation runbook_url");
  });
});

describe("the dashboard", () => {
  const dashboard = JSON.parse(read("charts/switchyard/dashboards/switchyard.json")) as {
    readonly templating: { readonly list: readonly { readonly name: string }[] };
    readonly panels: readonly {
      readonly type: string;
      readonly title: string;
      readonly description?: string;
      readonly targets?: readonly { readonly expr: string }[];
    }[];
  };
  const panels = dashboard.panels.filter(({ type }) => type !== "row");

  it("describes each panel with whole sentences", () => {
    expect(panels.length).toBeGreaterThan(25);
    expect(
      panels.filter(({ description = "" }) => !/^[A-Z].{20,}\.$/.test(description)).map(({ title }) => title),
    ).toEqual([]);
  });

  it("has a variable for each that its expressions use, and selects each series by the namespace", () => {
    const names = dashboard.templating.list.map(({ name }) => name);
    const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const used = matches(/\$([a-z]+)/g, expressions).filter((name) => !name.startsWith("__"));
    expect(names.filter((name) => name !== "datasource").toSorted()).toEqual(used);
    const series = expressions.flatMap((expr) => expr.match(/\b(?:switchyard|process|nodejs)_\w+[^)\s[]*/g) ?? []);
    expect(series.filter((one) => !one.includes('{namespace=~"$namespace"'))).toEqual([]);
  });
});

describe("alerts.md", () => {
  it("has each alert, and no other", () => {
    const inChart = matches(/alert: (\w+)/g, [read(alertsFile)]);
    expect(matches(/^\| \[(\w+)\]\(alerts\/\w+\.md\)/gm, [read("docs/reference/alerts.md")])).toEqual(inChart);
    const pages = globSync("docs/reference/alerts/*.md", { cwd: root }).map((page) => page.replace(/^.*\/|\.md$/g, ""));
    expect(pages.toSorted()).toEqual(inChart);
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
