// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run bench -- fleet`: the operator beside a real API server and a simulated fleet.
 */
import { writeFile } from "node:fs/promises";
import { BenchError } from "../bench-error.ts";
import { startBenchCluster } from "../cluster/bench-cluster.ts";
import { describeGoal, missedGoals } from "../measure/goal.ts";
import { readMachine } from "../measure/machine-facts.ts";
import { startProgress } from "../measure/progress.ts";
import { createFleet } from "./fleet.ts";
import { fleetGoals } from "./fleet-goals.ts";
import { operatorNamespace, plainNamespace } from "./fleet-objects.ts";
import { fleetHelp, parseFleetOptions, type FleetOptions } from "./fleet-options.ts";
import { renderFleetReport, type FleetReport } from "./fleet-report.ts";
import { fleetScenario } from "./fleet-scenario.ts";
import { measureStep, type FleetBench } from "./measure-step.ts";
import { buildOperator, complaintsIn, startOperator, type OperatorProcess } from "./operator-process.ts";
import type { StepResult } from "./step-result.ts";

/** Rejects with BenchError: `goals` when one is missed and --check was given, other codes when there are no figures. */
export async function runFleetBench(args: readonly string[]): Promise<void> {
  const options = parseFleetOptions(args);
  if (options === "help") {
    process.stdout.write(fleetHelp);
    return;
  }
  const report = await measureFleet(options);
  process.stdout.write(renderFleetReport(report));
  if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`);
  const missed = missedGoals(report.goals);
  if (options.check && missed.length > 0) {
    throw new BenchError("goals", `${missed.length} goals missed:\n${missed.map(describeGoal).join("\n")}`);
  }
}

async function measureFleet(options: FleetOptions): Promise<FleetReport> {
  const machine = readMachine();
  const date = new Date().toISOString();
  using progress = startProgress();
  progress.at("building the operator");
  await buildOperator();
  const run = new AbortController();
  const fail = (error: unknown): void => {
    run.abort(error);
  };
  const namespaces = [operatorNamespace, plainNamespace];
  await using cluster = await startBenchCluster({ namespaces, progress, fail });
  await using fleet = await createFleet({ cluster, options, progress, fail });
  const operatorUser = await cluster.user("operator");

  let operator: OperatorProcess | undefined;
  await using last = new AsyncDisposableStack();
  last.defer(() => operator?.[Symbol.asyncDispose]());
  const running = (): OperatorProcess => {
    if (operator === undefined) throw new BenchError("ended", "the operator was not started");
    return operator;
  };
  const bench: FleetBench = { fleet, operator: running, operatorUser, signal: run.signal, progress };
  const scenario = fleetScenario({
    fleet,
    options,
    async startOperator() {
      await operator?.stop();
      const { kubeconfig } = operatorUser;
      operator = await startOperator({ kubeconfig, directory: cluster.directory, cpuProf: options.cpuProf, fail });
      await operator.ready(run.signal);
    },
  });

  const steps: StepResult[] = [];
  for (const step of scenario) {
    steps.push(await measureStep(bench, step));
    if (step.id === "report") await fleet.reportAll(plainNamespace);
  }
  await running().stop();
  const { nodes, policies, profile, connections, rounds } = options;
  return {
    bench: "fleet",
    date,
    machine,
    versions: cluster.versions,
    options: { nodes, policies, profile, connections, rounds },
    steps,
    goals: fleetGoals(steps, options),
    complaints: await complaintsIn(cluster.directory),
  };
}
