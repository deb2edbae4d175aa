// SPDX-License-Identifier: Apache-2.0
/** The chart's alerts fire, or do not, for the series that processes export in these situations. */
import { describe, expect, it } from "@jest/globals";
import { findWorkspaceRoot } from "@switchyard/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
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

const hours = (value: number) => `${value}x300`;
/** A counter that grows by this number each minute. */
const growing = (step: number) => `0+${step}x300`;
const target = `namespace="sriov-network-operator",instance="operator",job="operator"`;
const conditionOf = (kind: string, name: string, type: string) =>
  `switchyard_conditions{${target},kind="${kind}",name="${name}",type="${type}"}`;

/** Series of an operator, a webhook and a daemon while nothing is wrong. */
const healthy: Scenario["series"] = {
  [`switchyard_leading{${target},lease="switchyard-operator"}`]: hours(1),
  [`switchyard_build_info{${target},component="operator",version="1"}`]: hours(1),
  'switchyard_build_info{instance="webhook",job="webhook",component="webhook",version="1"}': hours(1),
  'switchyard_build_info{instance="worker-1",job="worker-1",component="config-daemon",version="1"}': hours(1),
  [`switchyard_cache_age_seconds{${target},resource="nodes"}`]: hours(30),
  [`switchyard_cache_age_seconds{${target},resource="secrets"}`]: hours(30),
  'switchyard_cache_age_seconds{instance="webhook",job="webhook",resource="nodes"}': hours(30),
  'switchyard_cache_age_seconds{instance="worker-1",job="worker-1",resource="sriovnetworknodestates"}': hours(30),
  'nodejs_eventloop_busy_seconds_total{instance="worker-1",job="worker-1"}': growing(1),
  [`switchyard_node_states{${target},sync_status="Succeeded"}`]: hours(1),
  'switchyard_node_sync_status{instance="worker-1",job="worker-1",node="worker-1",sync_status="Failed"}': hours(0),
  'switchyard_oldest_step_seconds{instance="worker-1",job="worker-1",node="worker-1"}': hours(0),
  [conditionOf("SriovNetworkNodePolicy", "fast", "Degraded")]: hours(0),
  [conditionOf("SriovOperatorConfig", "default", "WebhookCertificate")]: hours(1),
};

/** The healthy series with those of an incident in place of theirs, for five hours at a scrape interval of a minute. */
function during(incident: Scenario["series"], without?: RegExp): Scenario {
  const kept = Object.entries(healthy).filter(([name]) => without?.test(name) !== true);
  // A notation such as 1x300 as the list of its values, since a test takes some of them away.
  const series = Object.fromEntries(kept.map(([name, values]) => [name, listOf(values).join(" ")]));
  return { intervalMs: 60_000, untilMs: 5 * 3_600_000, series: { ...series, ...incident } };
}

function listOf(notation: string): readonly number[] {
  const [, from = "0", step = "0"] = /^(\d+)(?:\+(\d+))?x300$/.exec(notation) ?? [];
  return Array.from({ length: 301 }, (_, index) => Number(from) + index * Number(step));
}

/** Each alert, and the series of the incident that it is for. */
const incidents: Readonly<Record<string, { readonly series: Scenario["series"]; readonly without?: RegExp }>> = {
  SwitchyardCrdsOutdated: { series: { "switchyard_outdated_crds{}": hours(2) } },
  SwitchyardNobodyLeads: { series: {}, without: /^switchyard_leading/ },
  SwitchyardReconcilesFail: {
    series: { 'switchyard_reconciles_total{controller="a",outcome="failed"}': growing(1) },
  },
  SwitchyardQueueGrows: { series: { 'switchyard_queue_depth{controller="a"}': hours(60) } },
  SwitchyardApiRequestsFail: {
    series: { 'switchyard_api_requests_total{instance="x",verb="PATCH",code="Forbidden"}': growing(30) },
  },
  SwitchyardCacheStale: { series: {} },
  SwitchyardNodeCacheStale: {
    without: /sriovnetworknodestates/,
    series: {
      'switchyard_cache_age_seconds{instance="worker-1",job="worker-1",resource="sriovnetworknodestates"}': hours(400),
    },
  },
  SwitchyardEventLoopBusy: {
    series: {
      'nodejs_eventloop_busy_seconds_total{instance="x",job="x"}': growing(58),
      'switchyard_build_info{instance="x",job="x",component="webhook",version="1"}': hours(1),
    },
  },
  SwitchyardCertificateExpires: {
    // The time of a test begins in 1970, so this certificate ends within five hours.
    series: {
      'switchyard_certificate_not_after_timestamp_seconds{component="operator-webhook",part="ca"}': hours(18_000),
    },
    without: /not_after/,
  },
  SwitchyardCertificateInvalid: {
    series: { [conditionOf("SriovOperatorConfig", "default", "WebhookCertificate")]: hours(0) },
  },
  SwitchyardNodesFailed: { series: { 'switchyard_node_states{sync_status="Failed"}': hours(1) } },
  SwitchyardNodesUnfinished: { series: { 'switchyard_node_states{sync_status="InProgress"}': hours(3) } },
  SwitchyardDrainStuck: { series: { 'switchyard_drains{state="degraded"}': hours(1) } },
  SwitchyardDrainSlotStalled: { series: { 'switchyard_drain_slot_age_seconds{state="stalled"}': growing(60) } },
  SwitchyardNodesUnheard: { series: { 'switchyard_node_states{sync_status="Unknown"}': hours(1) } },
  SwitchyardPodsUnavailable: {
    series: {
      'switchyard_daemon_set_pods{daemon_set="sriov-network-config-daemon",state="desired"}': hours(3),
      'switchyard_daemon_set_pods{daemon_set="sriov-network-config-daemon",state="updated"}': hours(3),
      'switchyard_daemon_set_pods{daemon_set="sriov-network-config-daemon",state="available"}': "3x60 2x240",
      'switchyard_oldest_step_seconds{node="a"}': hours(0),
      'switchyard_oldest_step_seconds{node="b"}': hours(0),
      'switchyard_oldest_step_seconds{node="c"}': hours(0),
    },
  },
  SwitchyardDaemonsNotScraped: {
    series: {
      'switchyard_daemon_set_pods{daemon_set="sriov-network-config-daemon",state="desired"}': hours(3),
      'switchyard_daemon_set_pods{daemon_set="sriov-network-config-daemon",state="available"}': hours(3),
    },
    without: /^switchyard_oldest_step|daemon_set_pods/,
  },
  SwitchyardDegraded: { series: { [conditionOf("SriovOperatorConfig", "default", "Degraded")]: hours(1) } },
  SwitchyardNetworksDegraded: {
    series: {
      [conditionOf("SriovNetwork", "a", "Degraded")]: hours(1),
      [conditionOf("SriovNetwork", "b", "Degraded")]: hours(1),
    },
  },
  SwitchyardPolicyStalled: {
    series: {
      [conditionOf("SriovNetworkNodePolicy", "slow", "Progressing")]: hours(1),
      'switchyard_ready_nodes{kind="SriovNetworkNodePolicy",name="slow"}': hours(100),
    },
  },
  SwitchyardNodeFails: {
    // While the operator does not answer.
    series: {
      'switchyard_node_sync_status{node="worker-1",sync_status="Failed"}': hours(1),
      'switchyard_leading{lease="switchyard-operator"}': hours(1),
    },
    without: /^switchyard_(node_states|leading)/,
  },
  SwitchyardStepHangs: { series: { 'switchyard_oldest_step_seconds{node="worker-2"}': growing(60) } },
  SwitchyardEqualVfMacs: { series: { 'switchyard_node_equal_vf_macs{node="worker-2"}': hours(2) } },
  SwitchyardVfsNotClean: { series: { 'switchyard_node_unclean_vfs{node="worker-2"}': hours(2) } },
  SwitchyardWebhookSlow: {
    series: {
      'switchyard_admission_review_seconds_bucket{le="0.3"}': growing(0),
      'switchyard_admission_review_seconds_bucket{le="1"}': growing(60),
      'switchyard_admission_review_seconds_bucket{le="+Inf"}': growing(60),
    },
    without: /^switchyard_admission_review_seconds/,
  },
};

/** In which all caches of all processes are as old as the outage. */
function withoutApiServer(series: Scenario["series"]): Scenario["series"] {
  return Object.fromEntries(
    Object.entries(series).map(([name, values]) => [
      name,
      name.startsWith("switchyard_cache_age_seconds") ? "30x60 0+60x8 30x240" : values,
    ]),
  );
}

describe("each alert", () => {
  it(
    "fires in the incident that it is for, and no other does",
    async () => {
      for (const [alert, { series, without }] of Object.entries(incidents)) {
        const scenario = during(series, without);
        const all = alert === "SwitchyardCacheStale" ? withoutApiServer(scenario.series) : scenario.series;
        const fired = await firingAlerts(ruleFile, { ...scenario, series: all });
        expect([alert, fired.map((one) => one.alert)]).toEqual([alert, [alert]]);
      }
    },
    buildMs,
  );

  it("is in the list of this test", async () => {
    const rules: unknown = parse(await readFile(ruleFile, "utf8"));
    const names = JSON.stringify(rules).matchAll(/"alert":"(\w+)"/g);
    expect(Array.from(names, ([, name]) => name).sort()).toEqual(Object.keys(incidents).sort());
  });
});

describe("no alert", () => {
  it(
    "fires in an upgrade, when two versions of a daemon have the same address, and all rules can be evaluated",
    async () => {
      const scenario = during({});
      const ofDaemon = Object.entries(scenario.series).filter(([name]) => name.includes('job="worker-1"'));
      const successor = ofDaemon.map(([name, values]) => {
        const next = name.replace("{", '{pod="new",').replace(/version="[^"]*"/, 'version="next"');
        return [next, `_x20 ${values.split(" ").slice(21).join(" ")}`] as const;
      });
      expect(successor.length).toBeGreaterThan(4);
      expect(await firing({ ...scenario, series: { ...scenario.series, ...Object.fromEntries(successor) } })).toEqual(
        [],
      );
    },
    buildMs,
  );

  it(
    "fires in a rollout of hours in which a node is configured each minute",
    async () => {
      const pods = (state: string) =>
        `switchyard_daemon_set_pods{daemon_set="sriov-network-config-daemon",state="${state}"}`;
      const minutes = Array.from({ length: 301 }, (_, index) => index);
      const scraped = Object.fromEntries(
        minutes.slice(1).map((node) => [`switchyard_oldest_step_seconds{node="n${node}"}`, hours(0)]),
      );
      const series = {
        ...scraped,
        'switchyard_node_states{sync_status="InProgress"}': minutes.map((at) => 300 - at).join(" "),
        'switchyard_node_states{sync_status="Succeeded"}': minutes.map((at) => 1 + at).join(" "),
        [conditionOf("SriovNetworkNodePolicy", "slow", "Progressing")]: hours(1),
        'switchyard_ready_nodes{kind="SriovNetworkNodePolicy",name="slow"}': minutes.join(" "),
        [pods("desired")]: hours(300),
        [pods("updated")]: minutes.join(" "),
        [pods("available")]: hours(298),
      };
      expect(await firing(during(series, /^switchyard_(node_states|daemon_set_pods)/))).toEqual([]);
    },
    buildMs,
  );

  it(
    "fires for a reboot of a node, which is away for eight minutes and InProgress for three more",
    async () => {
      const scenario = during({
        'switchyard_node_states{sync_status="InProgress"}': "0x60 1x11 0x229",
        'switchyard_daemon_set_pods{daemon_set="sriov-network-config-daemon",state="desired"}': hours(1),
        'switchyard_daemon_set_pods{daemon_set="sriov-network-config-daemon",state="updated"}': hours(1),
        'switchyard_daemon_set_pods{daemon_set="sriov-network-config-daemon",state="available"}': "1x60 0x8 1x231",
      });
      const away = Object.entries(scenario.series).map(([name, values]) => {
        const list = values.split(" ");
        const gone = [...list.slice(0, 60), "stale", ...Array.from({ length: 8 }, () => "_"), ...list.slice(69)];
        return [name, name.includes('job="worker-1"') ? gone.join(" ") : values];
      });
      expect(await firing({ ...scenario, series: Object.fromEntries(away) as Scenario["series"] })).toEqual([]);
    },
    buildMs,
  );
});
