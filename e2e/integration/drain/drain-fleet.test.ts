// SPDX-License-Identifier: Apache-2.0
/**
 * A hundred nodes of one pool request a drain at the same time, and a tenth may be unavailable. The test plays their
 * daemons, which finish at once. The order of events is that of the API server.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { eventually } from "@switchyard/testing";
import { startDrainCluster, type DrainCluster } from "./drain-cluster.ts";

const names = Array.from({ length: 100 }, (_, index) => `fleet-${String(index).padStart(2, "0")}`);
const limit = 10;

let testCluster: DrainCluster;
/** The daemons finish only after this is true: all slots are then taken at the same time. */
let haveAllAsked = false;
/** Nodes that were drained and have withdrawn their request. */
const finished = new Set<string>();
/** The most nodes that were unschedulable at once. */
let mostCordoned = 0;
/** Index of the first answer of this test. */
let begin = 0;

beforeAll(async () => {
  testCluster = await startDrainCluster();
  await testCluster.addPool("fleet", { nodeSelector: { matchLabels: { pool: "fleet" } }, maxUnavailable: "10%" });
  await Promise.all(names.map((name) => testCluster.addNode(name, { pool: "fleet" })));
  testCluster.states.subscribe(({ key }) => {
    goOn(key);
  });
  testCluster.nodes.subscribe(() => {
    mostCordoned = Math.max(
      mostCordoned,
      testCluster.nodes.list().filter(({ spec }) => spec?.unschedulable === true).length,
    );
  });
}, 600_000);

afterAll(async () => {
  await testCluster[Symbol.asyncDispose]();
}, 60_000);

/** Withdraws the request once the node is drained, as its daemon does. */
function goOn(name: string): void {
  if (!haveAllAsked || testCluster.answerOf(name) !== "DrainComplete" || finished.has(name)) return;
  finished.add(name);
  void testCluster.ask(name, "Idle");
}

beforeEach(() => {
  haveAllAsked = false;
  finished.clear();
  mostCordoned = 0;
  begin = testCluster.answers.length;
});

async function askAll(): Promise<void> {
  await Promise.all(names.map((name) => testCluster.ask(name, "Drain_Required")));
  haveAllAsked = true;
  for (const name of names) goOn(name);
}

async function untilAllAreIdle(): Promise<void> {
  await eventually("all nodes were drained", () => finished.size === names.length, { withinMs: 90_000 });
  await eventually("all nodes are released", () => names.every((name) => testCluster.answerOf(name) === "Idle"));
}

/**
 * Reads the answers of this test: the nodes in the order of their drains, the most nodes that were draining at the same
 * time, and how long free slots stayed free, sorted.
 */
function readWave() {
  const taking = new Set<string>();
  const started: string[] = [];
  const gapsMs: number[] = [];
  let freeSinceMs: number | undefined;
  let most = 0;
  for (const { node, answer, atMs } of testCluster.answers.slice(begin)) {
    if (answer === "Draining") {
      taking.add(node);
      started.push(node);
      if (freeSinceMs !== undefined) gapsMs.push(atMs - freeSinceMs);
      freeSinceMs = undefined;
    } else if (answer === "Idle") {
      taking.delete(node);
      if (started.length < names.length) freeSinceMs ??= atMs;
    }
    most = Math.max(most, taking.size);
  }
  return { started, most, gapsMs: gapsMs.sort((a, b) => a - b) };
}

describe("a hundred nodes that request drains at the same time, in a pool with maxUnavailable 10%", () => {
  it("are drained once each, at most ten at a time, and a free slot is taken within a second", async () => {
    await askAll();
    await untilAllAreIdle();
    const { started, most, gapsMs } = readWave();
    expect([most, [...started].sort()]).toEqual([limit, names]);
    expect(mostCordoned).toBeLessThanOrEqual(limit);
    expect(gapsMs[Math.floor(gapsMs.length * 0.9)]).toBeLessThan(1_000);
  });

  it("are drained once each, at most ten at a time, if the operator is killed repeatedly", async () => {
    await askAll();
    for (const count of [15, 45, 75]) {
      await eventually(`${count} were drained`, () => finished.size >= count);
      await testCluster.killOperator();
      await testCluster.startOperator();
    }
    await untilAllAreIdle();
    const { started, most } = readWave();
    expect([most, [...started].sort()]).toEqual([limit, names]);
    expect(mostCordoned).toBeLessThanOrEqual(limit);
  });
});
