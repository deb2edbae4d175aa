// SPDX-License-Identifier: Apache-2.0
/**
 * The chart's alerts and the dashboard's queries for the recorded metrics pages of a real operator, webhook and config daemon
 * (testdata/ORIGIN.md).
 */
import { describe, expect, it } from "@jest/globals";
import { findWorkspaceRoot } from "@switchyard/testing";
import { join } from "node:path";
import { readPanels } from "@switchyard/test-cluster";
import { countValues, firingAlerts, type Scenario } from "./promql.ts";
import { changesOf, readRecording, replay } from "./recording.ts";

const ruleFile = join(findWorkspaceRoot(), "charts/switchyard/alerts/switchyard.yaml");
const buildMs = 20 * 60_000;
const untilMs = 3_600_000;

/** Alerts that fire at any time, each once, with the object that they name. */
async function firing(scenario: Scenario): Promise<readonly string[]> {
  const fired = await firingAlerts(ruleFile, scenario);
  const texts = fired.map(({ alert, labels }) => [alert, labels["lease"] ?? labels["name"]].filter(Boolean).join(" "));
  return [...new Set(texts)].sort();
}

describe("a recorded outage of the API server", () => {
  it.each([15_000, 30_000, 60_000])(
    "of 130 s raises no alert at a scrape interval of %i ms",
    async (intervalMs) => {
      const series = replay(await readRecording("outage"), { intervalMs, untilMs });
      expect(await firing({ intervalMs, untilMs, series })).toEqual([]);
    },
    buildMs,
  );
});

describe("the recorded failure of a node", () => {
  it.each([15_000, 30_000, 60_000])(
    "raises one alert about nodes and one about the policy, at a scrape interval of %i ms",
    async (intervalMs) => {
      const recording = await readRecording("failing-node");
      const repeat = { fromMs: 230_000, toMs: 360_000 };
      for (const phaseMs of [0, 5_000, 10_000, 25_000].filter((phase) => phase < intervalMs)) {
        const series = replay(recording, { intervalMs, untilMs, phaseMs, repeat });
        const fired = await firing({ intervalMs, untilMs, series });
        expect([phaseMs, fired]).toEqual([phaseMs, ["SwitchyardDegraded fast", "SwitchyardNodesFailed"]]);
      }
    },
    buildMs,
  );

  it(
    "is Degraded without a gap: a retry that runs is no recovery",
    async () => {
      const { series } = await readRecording("failing-node");
      const [runs] = Object.entries(series).flatMap(([name, values]) =>
        name.includes('name="fast"') && name.includes('type="Degraded"') ? [values] : [],
      );
      expect(changesOf(runs ?? [])).toEqual([0, 1]);
      const flaps = Object.entries(series).find(([name]) => /node_sync_status.*InProgress/.test(name));
      expect(changesOf(flaps?.[1] ?? []).length).toBeGreaterThan(4); // the node itself is InProgress in each attempt
    },
    buildMs,
  );
});

describe("the panels of the dashboard", () => {
  it(
    "have a description, and their queries return values for recorded data",
    async () => {
      const panels = await readPanels();
      expect(panels.filter(({ description }) => description.length < 20)).toEqual([]);
      const [intervalMs, lastMs] = [15_000, 360_000];
      const failing = replay(await readRecording("failing-node"), { intervalMs, untilMs: lastMs });
      const queries = panels.flatMap(({ expressions }) => expressions);
      // Where the recording was made, no DaemonSet has pods, nothing is drained, and the webhook is not called.
      const pods = { 'switchyard_daemon_set_pods{daemon_set="a",state="desired"}': "1x24" };
      const available = { 'switchyard_daemon_set_pods{daemon_set="a",state="available"}': "1x24" };
      const pool = {
        'switchyard_matched_nodes{kind="SriovNetworkPoolConfig",name="p"}': "1x24",
        'switchyard_ready_nodes{kind="SriovNetworkPoolConfig",name="p"}': "1x24",
      };
      const histogram = (name: string) => ({
        [`${name}_bucket{le="60"}`]: "0+1x24",
        [`${name}_bucket{le="+Inf"}`]: "0+1x24",
      });
      const rare = {
        ...histogram("switchyard_drain_seconds"),
        ...histogram("switchyard_admission_review_seconds"),
        'switchyard_admission_reviews_total{kind="a",allowed="true"}': "0+1x24",
        ...histogram("switchyard_policy_configuration_seconds"),
        ...histogram("switchyard_node_configuration_seconds"),
        'switchyard_admission_refusals_total{kind="a",field="b"}': "0+1x24",
        'switchyard_certificate_not_after_timestamp_seconds{component="a",part="ca"}': "9000000x24",
      };
      const series = { ...failing, ...pods, ...available, ...pool, ...rare };
      const counts = await countValues(queries, { intervalMs, untilMs: lastMs, series });
      expect(queries.filter((_, index) => counts[index] === 0)).toEqual([]);
    },
    buildMs,
  );
});
