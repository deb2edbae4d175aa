// SPDX-License-Identifier: Apache-2.0
/**
 * measureFleet measures the operator with a real API server and a simulated fleet.
 */
import { startBenchCluster } from "../harness/bench-cluster.ts";
import { stopGoal } from "../harness/goal.ts";
import { buildApp } from "../harness/measured-process.ts";
import { readMachine } from "../harness/machine.ts";
import { startRun } from "../harness/run-control.ts";
import { startProgress } from "../harness/progress.ts";
import { createFleet } from "./fleet.ts";
import { measureDrainWave } from "./drain-wave.ts";
import { fleetGoals, waveGoals, type FleetReport } from "./fleet-report.ts";
import { operatorNamespace, plainNamespace } from "./fleet-objects.ts";
import type { FleetOptions } from "./fleet-options.ts";
import { createMeasuredOperator } from "./measured-operator.ts";
import { fleetScenario } from "./fleet-scenario.ts";
import { measureStep, type FleetBench } from "./measure-step.ts";
import type { StepResult } from "./step-result.ts";

/** Rejects with BenchError if the measurement fails. */
export async function measureFleet(options: FleetOptions): Promise<FleetReport> {
  const machine = readMachine();
  const date = new Date().toISOString();
  using progress = startProgress();
  progress.at("building the operator");
  const script = await buildApp("operator");
  using run = startRun();
  const { fail } = run;
  const namespaces = [operatorNamespace, plainNamespace];
  await using cluster = await startBenchCluster({ namespaces, progress, fail });
  await using fleet = await createFleet({ cluster, options, progress, run });
  const operatorUser = await cluster.user("operator");
  await using operator = createMeasuredOperator({
    script,
    cluster,
    user: operatorUser,
    fail,
    writeConfigMap: options.writeConfigMap,
    cpuProf: options.cpuProf,
  });
  const bench: FleetBench = { fleet, operator, operatorUser, signal: run.signal, progress };
  const scenario = fleetScenario({
    fleet,
    options,
    startOperator: () => operator.start(run.signal),
    stopOperator: () => operator.stop(),
  });

  const steps: StepResult[] = [];
  for (const step of scenario) {
    steps.push(await measureStep(bench, step));
    if (step.id !== "report") continue;
    progress.at("writing the same statuses to the plain client's node states");
    await fleet.reportAllPlainly();
  }
  const wave = options.drains === 0 ? undefined : await measureDrainWave({ ...bench, cluster, run }, options.drains);
  await operator.stop();
  const { stopSeconds } = operator;
  const { nodes, policies, profile, connections, rounds, writeConfigMap } = options;
  return {
    bench: "fleet",
    date,
    machine,
    versions: cluster.versions,
    options: { nodes, policies, profile, connections, rounds, writeConfigMap },
    steps,
    ...(wave === undefined ? {} : { wave }),
    stopSeconds,
    goals: [...fleetGoals(steps, options), ...(wave === undefined ? [] : waveGoals(wave)), stopGoal(stopSeconds)],
    complaints: operator.complaints(),
  };
}
