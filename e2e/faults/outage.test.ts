// SPDX-License-Identifier: Apache-2.0
/** What a process logs while the API server is down: a few lines, however many watches it has. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { operatorConfigName, sriovOperatorConfigs } from "@switchyard/api";
import { setTimeout as delay } from "node:timers/promises";
import { disposeOf } from "../src/dispose-of.ts";
import { prepareFaultTests, type PreparedFaultTests } from "./campaign.ts";
import { startFaultCluster, type FaultCluster } from "./fault-cluster.ts";
import { ofKind, place, statusOf } from "./scenarios/scenario.ts";

let prepared: PreparedFaultTests;
let cluster: FaultCluster;

beforeAll(async () => {
  prepared = await prepareFaultTests();
  cluster = await startFaultCluster({ ...prepared, flags: [] });
}, 600_000);

afterAll(async () => {
  await disposeOf(cluster, prepared);
}, 60_000);

const outageMs = 130_000;
/** After the outage: the longest pause before a retry, and the line about the end of the outage. */
const recoveryMs = 30_000;
const mostLines = 20;

describe("an outage of the API server", () => {
  it("is at most 20 lines without stacks in the log of the operator", async () => {
    await cluster.users.apply(sriovOperatorConfigs, { metadata: place(operatorConfigName), spec: {} });
    await cluster.users.nodes.add("worker-1");
    const isKnown = () =>
      ofKind(cluster.observer.objects(), "SriovNetworkNodeState").some(
        (state) => statusOf(state)["syncStatus"] === "Succeeded",
      );
    await cluster.until("the daemon reports its node", isKnown, 120_000);
    await delay(5_000);
    const before = await cluster.readLines();
    await cluster.controlPlane.killApiServer();
    await delay(outageMs);
    await cluster.controlPlane.startApiServer();
    await delay(recoveryMs);
    const after = await cluster.readLines();
    const lines = after.operator.slice(before.operator.length);
    expect(lines.length > mostLines ? lines : []).toEqual([]);
    expect(lines.filter((line) => line.includes("API server answers again"))).toHaveLength(1);
    expect(lines.filter((line) => line.includes("at async"))).toEqual([]); // no stacks
  }, 600_000);
});
