// SPDX-License-Identifier: Apache-2.0
/**
 * What `switchyard plan` predicts for random nodes and changes of their policies is what the config daemon then does.
 * It runs the same steps, in the same order of each PF, and needs the same drain or reboot. Policies, bridges, pools and
 * settings of firmware change. SEED repeats a run, RUNS changes the number.
 */
import { beforeAll, describe, expect, it } from "@jest/globals";
import { findWorkspaceRoot, runProgram } from "@switchyard/testing";
import fc from "fast-check";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  inOrder,
  operatorConfig,
  simulateNode,
  type DoneStep,
  type DaemonRun,
  type SimulatedNode,
} from "./simulated-node.ts";
import { randomChange, type RandomChange } from "./random-change.ts";

const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
const runs = Number(process.env["RUNS"] ?? 1_000);

interface Difference {
  readonly run: string;
  readonly change: RandomChange;
  readonly predicted: PlannedNode | undefined;
  readonly happened: DaemonRun;
}

interface PlannedNode {
  readonly node: string;
  readonly impact: DaemonRun["impact"];
  readonly steps: readonly DoneStep[];
  readonly waiting?: readonly string[];
  readonly converged: boolean;
}

let changes: readonly RandomChange[];
let nodes: readonly SimulatedNode[];
let planned: ReadonlyMap<string, PlannedNode>;

beforeAll(async () => {
  changes = fc.sample(randomChange, { numRuns: runs, seed });
  nodes = changes.map((change, at) => simulateNode(`r${at}`, change));
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
      const predicted = planned.get(run);
      impacts.push(happened.impact);
      const change = changes[at];
      if (change !== undefined && !isAsPredicted(happened, predicted, change)) {
        differences.push({ run, change, predicted, happened });
      }
    }
    const count = (impact: string): number => impacts.filter((one) => one === impact).length;
    say(
      `${runs} runs: ${differences.length} differences; ${count("none")} without disruption, ${count("drain")} drains, ${count("reboot")} reboots (seed ${seed})`,
    );
    // Some of each kind, so that the comparison means something.
    expect([count("none") > 0, count("drain") > 0, count("reboot") > 0]).toEqual([true, true, true]);
    expect(differences.slice(0, 3)).toEqual([]);
  }, 1_200_000);
});

/**
 * A step of the node may run again for the PFs that a drain precedes, which changes nothing. After a reset of a card or a reboot, only PFs
 * follow of which the plan says so. Where the kernel does not probe VFs, which no status
 * says, a second round binds those of no group, if the PF is in switchdev mode.
 */
function isAsPredicted(
  { impact, steps: all, reboots, isSettled }: DaemonRun,
  predicted: PlannedNode | undefined,
  { quirks }: RandomChange,
): boolean {
  if (predicted === undefined || !isSettled || reboots > 1 || impact !== predicted.impact) return false;
  const count = predicted.steps.length;
  const steps = all.filter(
    (step, at) => step.pciAddress !== undefined || all.findIndex(({ text }) => text === step.text) === at,
  );
  const texts = (some: readonly DoneStep[]): readonly string[] => inOrder(some).map(({ text }) => text);
  const { waiting = [] } = predicted;
  const isUnprobed = quirks.some(({ autoprobe }) => autoprobe === false);
  const mayFollow = ({ pciAddress, text }: DoneStep): boolean =>
    pciAddress === undefined || waiting.includes(pciAddress)
      ? waiting.length > 0 || reboots === 1
      : isUnprobed && /^bind VF \d+ of \S+ to its kernel driver$/.test(text);
  return isDeepStrictEqual(texts(steps.slice(0, count)), texts(predicted.steps)) && steps.slice(count).every(mayFollow);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** One call of the command line for all nodes: policies select them by a label. */
async function plan(all: readonly SimulatedNode[]): Promise<ReadonlyMap<string, PlannedNode>> {
  const items = [
    operatorConfig,
    ...all.flatMap(({ node, demands: { after }, ...one }) => [node, one.state(), ...after.policies, ...after.pools]),
  ];
  const main = join(findWorkspaceRoot(), "apps/cli/src/main.ts");
  const args = ["--disable-warning=ExperimentalWarning", main, "plan", "-f", "-", "-o", "json"];
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  const { stdout, stderr } = await runProgram(process.execPath, args, { input });
  if (stdout === "") throw new Error(`switchyard plan printed nothing: ${stderr}`);
  const { nodes: plans } = JSON.parse(stdout) as { readonly nodes: readonly PlannedNode[] };
  return new Map(plans.map((one) => [one.node, one]));
}
