// SPDX-License-Identifier: Apache-2.0
/**
 * The figures of a run, for people and for programs. Pure.
 * Usage: `process.stdout.write(renderFleetReport(report))`
 */
import { describeGoal, type Goal } from "../harness/goal.ts";
import { describeMachine, type MachineFacts } from "../harness/machine-facts.ts";
import { listCounts, total, withoutLeases } from "../harness/request-count.ts";
import { renderTable, showMb, showRatio, showSeconds } from "../harness/table.ts";
import type { DrainWave } from "./drain-log.ts";
import type { FleetOptions } from "./fleet-options.ts";
import { titleOf, type StepResult } from "./step-result.ts";

/** What --json writes. */
export interface FleetReport {
  readonly bench: "fleet";
  /** RFC 3339. */
  readonly date: string;
  readonly machine: MachineFacts;
  readonly versions: Readonly<Record<string, string>>;
  readonly options: Pick<FleetOptions, "nodes" | "policies" | "profile" | "connections" | "rounds" | "writeConfigMap">;
  readonly steps: readonly StepResult[];
  readonly wave?: DrainWave;
  /** From SIGTERM to the end, of each process. */
  readonly stopSeconds: readonly number[];
  readonly goals: readonly Goal[];
  /** Warnings and errors in the operator's log. */
  readonly complaints: readonly string[];
}

export function renderFleetReport(report: FleetReport): string {
  const { machine, versions, options, steps, goals, complaints, date } = report;
  const missed = goals.filter(({ met }) => !met);
  const programs = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    `Operator${options.writeConfigMap ? " with --write-configmap" : ""}, ${options.nodes} nodes, ${options.policies} policies, profile ${options.profile}; ${date}`,
    `${describeMachine(machine)}; ${programs.join(", ")}`,
    `Plain client: server-side apply of the same specs over ${options.connections} connections`,
    "All CPU: of API server, etcd, operator and harness until the last spec arrived; for the operator / the plain client",
    "Others busy: processors that other work on this machine took meanwhile: times compare where that is 0",
    "",
    renderTable(head, steps.map(rowOf)),
    "",
    ...(report.wave === undefined ? [] : [describeWave(report.wave), ""]),
    `${goals.length - missed.length} of ${goals.length} goals met`,
    ...missed.map((goal) => `  missed: ${describeGoal(goal)}`),
    ...(complaints.length === 0 ? [] : [`The operator's log has ${complaints.length} warnings or errors, first:`]),
    ...complaints.slice(0, 5).map((line) => `  ${line.slice(0, 300)}`),
    "",
  ].join("\n");
}

const head = [
  "step",
  "first node",
  "all nodes",
  "plain client",
  "ratio",
  "all CPU",
  "others busy",
  "operator CPU",
  "RSS",
  "peak",
  "writes by the operator (leases left out)",
];

function describeWave({ nodes, limit, peak, longestGapSeconds, allSeconds, cpuSeconds }: DrainWave): string {
  return (
    `${nodes} nodes ask for a drain at once, ${limit} may: ${peak} at most were, all done after ${showSeconds(allSeconds)}, ` +
    `a free slot was taken within ${showSeconds(longestGapSeconds)}; operator CPU ${showSeconds(cpuSeconds)}`
  );
}

function rowOf(step: StepResult): readonly string[] {
  const { firstSeconds, allSeconds, plainSeconds, cpuSeconds, rssMb, peakMb, requests } = step;
  const loads = [step.load, step.plainLoad].filter((load) => load !== undefined);
  const writes = withoutLeases(requests.writes);
  const failed = total(requests.failed) === 0 ? "" : `; refused: ${listCounts(requests.failed)}`;
  return [
    titleOf(step),
    showSeconds(firstSeconds),
    showSeconds(allSeconds),
    showSeconds(plainSeconds),
    showRatio(allSeconds === undefined || plainSeconds === undefined ? undefined : allSeconds / plainSeconds),
    loads.map(({ ownSeconds }) => showSeconds(ownSeconds)).join(" / "),
    loads.map(({ othersBusy }) => othersBusy.toFixed(1)).join(" / "),
    showSeconds(cpuSeconds),
    showMb(rssMb),
    showMb(peakMb),
    `${listCounts(writes)}${failed}`,
  ];
}
