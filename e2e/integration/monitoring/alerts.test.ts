// SPDX-License-Identifier: Apache-2.0
/** The chart's alerts fire, or do not, for the series that processes export in these situations. */
import { describe, expect, it } from "@jest/globals";
import { findWorkspaceRoot } from "@switchyard/testing";
import { join } from "node:path";
import { firingAlerts, type Scenario } from "./promql.ts";

const ruleFile = join(findWorkspaceRoot(), "charts/switchyard/alerts/switchyard.yaml");
const buildMs = 20 * 60_000;

/** Alerts that fire at any time, each once, with the label that tells them apart. */
async function firing(scenario: Scenario): Promise<readonly string[]> {
  const fired = await firingAlerts(ruleFile, scenario);
  const texts = fired.map(({ alert, labels }) => [alert, labels["lease"] ?? labels["name"]].filter(Boolean).join(" "));
  return [...new Set(texts)].sort();
}

/** Values at each scrape. `valueAt` gets the seconds since the start. */
function scraped(scrapeSeconds: number, minutes: number, valueAt: (seconds: number) => number): string {
  return Array.from({ length: (minutes * 60) / scrapeSeconds + 1 }, (_, index) => valueAt(index * scrapeSeconds)).join(
    " ",
  );
}

const operator = `instance="operator"`;
/** A healthy operator of two replicas, so that only the alerts in question can fire. */
const leader = { [`switchyard_leading{lease="switchyard-operator", ${operator}}`]: "1x300" };

describe("a node that fails for hours", () => {
  const phases = [0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60];

  // The daemon retries every 60 s. The policy is not Degraded, and the node is InProgress, while the failing step runs.
  it.each([
    ...[15, 30, 60].map((scrapeSeconds) => ({ scrapeSeconds, stepSeconds: 5 })),
    { scrapeSeconds: 30, stepSeconds: 60 },
    { scrapeSeconds: 30, stepSeconds: 230 },
  ])(
    "raises alerts at a scrape interval of $scrapeSeconds s if its step takes $stepSeconds s",
    async ({ scrapeSeconds, stepSeconds }) => {
      for (const phase of phases) {
        const failed = scraped(scrapeSeconds, 60, (at) => Number((at + phase) % (60 + stepSeconds) < 60));
        const series = {
          ...leader,
          'switchyard_node_states{sync_status="Failed"}': failed,
          'switchyard_conditions{kind="SriovNetworkNodePolicy", name="fast", type="Degraded"}': failed,
        };
        const scenario = { intervalMs: scrapeSeconds * 1_000, untilMs: 3_600_000, series };
        expect([phase, await firing(scenario)]).toEqual([phase, ["SwitchyardDegraded fast", "SwitchyardNodesFailed"]]);
      }
    },
    buildMs,
  );

  it(
    "raises the alerts although the operator's pod is replaced and scrapes fail",
    async () => {
      const failed = "1 1 1 1 0";
      const first = `${failed} ${failed} ${failed} _ _ ${failed} stale`; // 23 scrapes of 30 s
      const second = `_x22 ${Array(20).fill(failed).join(" ")}`;
      const of = (name: string) => `switchyard_node_states{sync_status="Failed", pod="${name}"}`;
      const scenario = {
        intervalMs: 30_000,
        untilMs: 1_800_000,
        series: { ...leader, [of("a")]: first, [of("b")]: second },
      };
      expect(await firing(scenario)).toEqual(["SwitchyardNodesFailed"]);
      const fired = await firingAlerts(ruleFile, scenario);
      expect(fired).toEqual([expect.objectContaining({ fromMs: 600_000 })]); // at once after ten minutes, without a reset
      expect(fired[0]).not.toHaveProperty("toMs");
    },
    buildMs,
  );

  it(
    "raises no alert if it failed only for a few minutes",
    async () => {
      const failed = scraped(15, 60, (at) => Number(at >= 600 && at < 780));
      const series = {
        ...leader,
        'switchyard_node_states{sync_status="Failed"}': failed,
        'switchyard_conditions{kind="SriovNetworkNodePolicy", name="fast", type="Degraded"}': failed,
      };
      expect(await firing({ intervalMs: 15_000, untilMs: 3_600_000, series })).toEqual([]);
    },
    buildMs,
  );
});

describe("a Lease that no replica holds", () => {
  const leading = (lease: string, instance: string) => `switchyard_leading{lease="${lease}", instance="${instance}"}`;
  const offload = { [leading("switchyard-ovn-offload", "ovn-offload")]: "1x300" };

  it.each([
    { situation: "all replicas are standby", operators: { a: "0x300", b: "0x300" } },
    { situation: "the pods are gone", operators: { a: "1x20 stale" } },
    { situation: "the pods were never there", operators: {} },
    { situation: "the leader is gone and later a standby comes", operators: { a: "1x4 stale", b: "_x20 0x300" } },
  ])(
    "of the operator raises an alert beside a leader of ovn-offload: $situation",
    async ({ operators }) => {
      const own = Object.entries(operators).map(
        ([name, values]) => [leading("switchyard-operator", name), values] as const,
      );
      const series = { ...offload, ...Object.fromEntries(own) };
      const fired = await firing({ intervalMs: 30_000, untilMs: 3_600_000, series });
      expect(fired).toEqual(["SwitchyardNobodyLeads switchyard-operator"]);
    },
    buildMs,
  );

  it(
    "of ovn-offload raises an alert beside a leader of the operator",
    async () => {
      const series = { ...leader, [leading("switchyard-ovn-offload", "a")]: "0x300" };
      const fired = await firing({ intervalMs: 30_000, untilMs: 3_600_000, series });
      expect(fired).toEqual(["SwitchyardNobodyLeads switchyard-ovn-offload"]);
    },
    buildMs,
  );

  it(
    "raises no alert while a new replica takes over, during failed scrapes, or without ovn-offload",
    async () => {
      const series = {
        [leading("switchyard-operator", "a")]: "1x20 _x5 1x10 stale",
        [leading("switchyard-operator", "b")]: "0x42 1x200",
      };
      expect(await firing({ intervalMs: 30_000, untilMs: 3_600_000, series })).toEqual([]);
    },
    buildMs,
  );
});
