// SPDX-License-Identifier: Apache-2.0
/**
 * runCampaign runs a scenario repeatedly until a fault has occurred at every fault point. It uses two clusters at the
 * same time, because most of a scenario is waiting.
 */
import { binariesFor, createProgress, ensureBinaries, writeToStderr } from "@switchyard/testing";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleApp } from "../src/bundle-app.ts";
import { startFaultCluster, type FaultCluster, type FaultClusterOptions } from "./fault-cluster.ts";
import { allPoints, countPoints, planScenarios, samplePoints, type Point, type FaultFreeStep } from "./points.ts";
import {
  FaultFinding,
  runWithFaults,
  runWithoutFaults,
  type FaultyRun,
  type Reference,
} from "./scenarios/run-scenario.ts";
import type { Scenario } from "./scenarios/scenario.ts";

export interface CampaignOptions extends Omit<FaultClusterOptions, "flags"> {
  readonly pointsToRun: "sample" | "all";
  /** Plans the runs, each with its fault points; depends on `pointsToRun` by default. */
  readonly plan?: (steps: readonly FaultFreeStep[]) => readonly (readonly Point[])[];
}

export interface CampaignResult {
  readonly points: readonly Point[];
  /** The points at which no fault could occur, because a run had fewer writes than the reference run. */
  readonly missed: readonly Point[];
  /** The failures, at most `maxFindings`. */
  readonly findings: readonly string[];
}

/** Whether a test runs at all fault points or at a sample of them: `npm run e2e -- faults --all`. */
export const pointsToRun: "all" | "sample" = process.env["SWITCHYARD_FAULTS"] === "all" ? "all" : "sample";

/** Disposing it removes the bundle. */
export interface PreparedFaultTests extends AsyncDisposable {
  /** Directory of the control plane's binaries. */
  readonly binaries: string;
  /** Path of the operator's bundle. */
  readonly main: string;
}

const clusterCount = 2;
const maxFindings = 4;

/** Prints the progress. Rejects if the scenario fails without faults. */
export async function runCampaign(scenario: Scenario, options: CampaignOptions): Promise<CampaignResult> {
  const { pointsToRun } = options;
  using progress = createProgress({ name: scenario.name });
  progress.at("the scenario without faults");
  const faultClusters = await Promise.all(
    Array.from({ length: clusterCount }, () => startFaultCluster({ ...options, ...scenario })),
  );
  const [first] = faultClusters;
  const missed: Point[] = [];
  const findings: string[] = [];
  let scenarios = 0;
  await using _ = disposeOf(faultClusters);
  if (first === undefined) throw new RangeError("no fault cluster was started");
  const reference = await runWithoutFaults(first, scenario);
  const scenarioPlan = options.plan?.(factsOf(reference)) ?? planScenarios(pointsOf(reference, pointsToRun));
  const points = scenarioPlan.flat();
  const plan = [[], ...scenarioPlan]; // The first run has no faults and must have the same result as the reference run.
  const due = [...plan];
  progress.at(
    `${countPoints(points)}, in ${plan.length} scenarios of ${scenario.steps.length} steps`,
    () => `${scenarios} of ${plan.length} scenarios, ${findings.length} findings`,
  );

  async function runNext(start: FaultCluster): Promise<void> {
    let faultCluster = start;
    for (let next = due.shift(); next !== undefined && findings.length < maxFindings; next = due.shift()) {
      const found = await attempt({ faultCluster, scenario, reference, points: next });
      scenarios += 1;
      if (typeof found !== "string") {
        missed.push(...found);
        continue;
      }
      findings.push(found);
      progress.say(`finding ${findings.length}: ${found.split("\n")[0] ?? ""}`);
      await faultCluster[Symbol.asyncDispose]();
      faultClusters.splice(faultClusters.indexOf(faultCluster), 1);
      faultCluster = await startFaultCluster({ ...options, ...scenario });
      faultClusters.push(faultCluster);
    }
  }
  await Promise.all(faultClusters.map(runNext));
  progress.say(`done: ${countPoints(points)}; ${missed.length} came to nothing; ${findings.length} findings`);
  return { points, missed, findings };
}

function pointsOf(reference: Reference, pointsToRun: CampaignOptions["pointsToRun"]): readonly Point[] {
  const facts = factsOf(reference);
  return pointsToRun === "all" ? allPoints(facts) : samplePoints(facts);
}

function factsOf({ steps }: Reference): readonly FaultFreeStep[] {
  return [...steps].map(([step, { writes, notifiedResources }]) => ({
    step,
    writeCount: writes.length,
    notifiedResources,
  }));
}

/** The failure as a text, or the points at which no fault occurred. */
async function attempt(run: FaultyRun): Promise<string | readonly Point[]> {
  try {
    const missed = await runWithFaults(run);
    const errors = await run.faultCluster.readErrors();
    return errors.length === 0 ? missed : `the operator logged errors:\n${errors.join("\n")}`;
  } catch (error) {
    if (!(error instanceof FaultFinding)) throw error;
    return `${error.message}\nthe end of the operator's log:\n${await run.faultCluster.readLog()}`;
  }
}

function disposeOf(faultClusters: readonly FaultCluster[]): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(faultClusters.map((faultCluster) => faultCluster[Symbol.asyncDispose]()));
    },
  };
}

/**
 * prepareFaultTests provides what every fault test needs: the binaries of a control plane and a bundled operator. Rejects if a
 * binary is missing or the operator cannot be bundled.
 */
export async function prepareFaultTests(): Promise<PreparedFaultTests> {
  const binaries = await ensureBinaries({ names: binariesFor({ controllerManager: true }), progress: writeToStderr });
  const directory = await mkdtemp(join(tmpdir(), "switchyard-faults-"));
  const main = await bundleApp("apps/operator", directory);
  return { binaries, main, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) };
}
