// SPDX-License-Identifier: Apache-2.0
/**
 * What `switchyard plan` predicts for random nodes and changes of their policies is what the config daemon then does: the same
 * steps in the same order of each PF, and the same need of a drain or reboot. SEED repeats a run, RUNS changes the number. Not
 * compared: which pods are evicted, and changes of pools, bridges and firmware.
 */
import { beforeAll, describe, expect, it } from "@jest/globals";
import { findWorkspaceRoot } from "@switchyard/testing";
import fc from "fast-check";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { runProgram } from "../src/run-program.ts";
import { inOrder, namespace, playNode, type Happened, type PlayedNode } from "./played-node.ts";
import { randomChange, type RandomChange } from "./random-change.ts";

const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
const runs = Number(process.env["RUNS"] ?? 1_000);

type Prediction = Pick<Happened, "impact" | "steps">;

interface Difference {
  readonly run: string;
  readonly change: RandomChange;
  readonly predicted: Prediction | undefined;
  readonly happened: Happened;
}

interface PlannedNode {
  readonly node: string;
  readonly impact: Happened["impact"];
  readonly steps: readonly { readonly text: string; readonly pciAddress?: string }[];
  readonly converged: boolean;
}

let changes: readonly RandomChange[];
let nodes: readonly PlayedNode[];
let planned: ReadonlyMap<string, PlannedNode>;

beforeAll(async () => {
  changes = fc.sample(randomChange, { numRuns: runs, seed });
  nodes = changes.map((change, at) => playNode(`r${at}`, change));
  for (const [at, node] of nodes.entries()) {
    if (at % 100 === 0) say(`seed ${seed}: ${at} of ${runs} nodes have their first policies`);
    await node.apply("before");
  }
  planned = await plan(nodes);
}, 1_200_000);

describe(`a plan (seed ${seed})`, () => {
  it("is what then happens", async () => {
    const differences: Difference[] = [];
    const impacts: string[] = [];
    for (const [at, node] of nodes.entries()) {
      if (at % 100 === 0) say(`${at} of ${runs} changes applied, ${differences.length} differences`);
      const happened = await node.apply("after");
      const run = `r${at}`;
      const one = planned.get(run);
      const predicted = one && { impact: one.impact, steps: inOrder(one.steps).map(({ text }) => text) };
      impacts.push(happened.impact);
      const change = changes[at];
      const { isSettled, ...real } = happened;
      if (change !== undefined && !(isSettled && isDeepStrictEqual(predicted, real))) {
        differences.push({ run, change, predicted, happened });
      }
    }
    const count = (impact: string): number => impacts.filter((one) => one === impact).length;
    say(
      `${runs} runs: ${differences.length} differences; ${count("none")} without disruption, ${count("drain")} drains, ${count("reboot")} reboots (seed ${seed})`,
    );
    // Some of each kind, so that the comparison means something.
    expect([count("none") > 0, count("drain") > 0]).toEqual([true, true]);
    expect(differences.slice(0, 3)).toEqual([]);
  }, 1_200_000);
});

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** One call of the command line for all nodes: policies select them by a label. */
async function plan(all: readonly PlayedNode[]): Promise<ReadonlyMap<string, PlannedNode>> {
  const config = {
    ...{ apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovOperatorConfig" },
    ...{ metadata: { name: "default", namespace }, spec: {} },
  };
  const items = [config, ...all.flatMap((one) => [one.node, one.state(), ...one.policies.after])];
  const main = join(findWorkspaceRoot(), "apps/cli/src/main.ts");
  const args = ["--disable-warning=ExperimentalWarning", main, "plan", "-f", "-", "-o", "json"];
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  const { stdout, stderr } = await runProgram(process.execPath, args, { input });
  if (stdout === "") throw new Error(`switchyard plan printed nothing: ${stderr}`);
  const { nodes: plans } = JSON.parse(stdout) as { readonly nodes: readonly PlannedNode[] };
  return new Map(plans.map((one) => [one.node, one]));
}
