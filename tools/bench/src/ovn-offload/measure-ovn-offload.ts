// SPDX-License-Identifier: Apache-2.0
/**
 * measureOvnOffload measures the service ovn-offload with a real API server, OpenShift's CRDs and simulated hosts.
 */
import { memoryFlags } from "@switchyard/service/memory";
import { openshiftCrds } from "@switchyard/test-cluster";
import { join } from "node:path";
import { operatorNamespace, plainNamespace } from "../fleet/fleet-objects.ts";
import { startBenchCluster } from "../harness/bench-cluster.ts";
import { buildApp } from "../harness/measured-process.ts";
import { stopGoal } from "../harness/goal.ts";
import { readMachine } from "../harness/machine.ts";
import { createMeasuredService } from "../harness/measured-service.ts";
import { createPlainClient } from "../harness/plain-client.ts";
import { startProgress } from "../harness/progress.ts";
import { startRun } from "../harness/run-control.ts";
import { measureOffloadStep } from "./measure-offload-step.ts";
import { createOffloadFleet } from "./offload-fleet.ts";
import { openshiftNamespaces } from "./offload-objects.ts";
import { offloadScenario } from "./offload-scenario.ts";
import type { OffloadStepResult } from "./offload-step-result.ts";
import { readOffload } from "./offload-view.ts";
import { ovnOffloadGoals, rowOf, type OvnOffloadReport } from "./ovn-offload-report.ts";
import type { OvnOffloadOptions } from "./ovn-offload-options.ts";

/** Rejects with BenchError if the measurement fails. */
export async function measureOvnOffload(options: OvnOffloadOptions): Promise<OvnOffloadReport> {
  const machine = readMachine();
  const date = new Date().toISOString();
  using progress = startProgress();
  progress.at("building ovn-offload");
  const script = await buildApp("ovn-offload");
  const crds = await openshiftCrds();
  using run = startRun();
  const { fail } = run;
  const namespaces = [operatorNamespace, plainNamespace, ...openshiftNamespaces];
  await using cluster = await startBenchCluster({ namespaces, crds, progress, fail });
  const fleet = await createOffloadFleet({ cluster, options, progress, run });
  const serviceUser = await cluster.user("ovn-offload");
  await using service = createMeasuredService({
    script,
    // As in its container. Without these flags, the program restarts itself.
    nodeFlags: memoryFlags,
    env: { MALLOC_ARENA_MAX: "1" },
    pod: serviceUser.pod,
    args: ["--namespace", operatorNamespace],
    log: join(cluster.directory, "ovn-offload.log"),
    fail,
    cpuProf: options.cpuProf,
  });
  const { nodes, pools, connections, rounds } = options;
  using plain = createPlainClient((await cluster.user("plain")).identity, connections);
  const bench = { cluster, service, serviceUser, plain, connections, signal: run.signal, progress };
  const scenario = offloadScenario({
    fleet,
    options,
    before: await readOffload(cluster.admin),
    startService: () => service.start(run.signal),
  });
  const steps: OffloadStepResult[] = [];
  for (const step of scenario) {
    const result = await measureOffloadStep(bench, step);
    steps.push(result);
    progress.at(rowOf(result).join(" | ")); // a run takes long
  }
  await service.stop();
  const { stopSeconds } = service;
  return {
    bench: "ovn-offload",
    date,
    machine,
    versions: cluster.versions,
    options: { nodes, pools, connections, rounds },
    steps,
    stopSeconds,
    goals: [...ovnOffloadGoals(steps, { hosts: nodes, pools, nodes: fleet.nodes }), stopGoal(stopSeconds)],
    complaints: service.complaints(),
  };
}
