// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { EventToRecord } from "@switchyard/kube";
import { createCluster } from "../testing/cluster.ts";
import type { ConfigCondition } from "../reports/config-condition.ts";
import { createHeldResets, createHeldResetsReconciler } from "./held-resets.ts";

const never = new AbortController().signal;
const hold = { reason: "DefinitionMissing", message: "the definition does not exist", afterMs: 1 } as const;

function setUp() {
  const cluster = createCluster();
  cluster.addConfig();
  const heldResets = createHeldResets();
  const conditions: (ConfigCondition | undefined)[] = [];
  const news: EventToRecord[] = [];
  const reconcile = createHeldResetsReconciler({
    heldResets,
    configs: cluster.operatorConfigs,
    setCondition(_config, condition) {
      conditions.push(condition);
      return Promise.resolve();
    },
    record: (told) => news.push(told),
  });
  return { heldResets, conditions, news, reconcile: () => reconcile("default", never) };
}

describe("createHeldResetsReconciler", () => {
  it("reports the nodes on the SriovOperatorConfig, with one event, until none is held", async () => {
    const { heldResets, conditions, news, reconcile } = setUp();
    await reconcile();
    heldResets.set("worker-2", hold);
    await reconcile();
    for (const name of ["worker-1", "worker-3", "worker-4"]) heldResets.set(name, hold);
    await reconcile();
    for (const name of ["worker-1", "worker-2", "worker-3", "worker-4"]) heldResets.set(name, undefined);
    await reconcile();
    expect(conditions).toEqual([
      undefined,
      {
        status: "True",
        reason: "DefinitionMissing",
        message: "node worker-2 keeps its configuration without policies: the definition does not exist",
      },
      {
        status: "True",
        reason: "DefinitionMissing",
        message:
          "nodes worker-1, worker-2, worker-3 and 1 more keep their configuration without policies: the definition does not exist",
      },
      undefined,
    ]);
    expect(news.map(({ type, reason, regarding }) => [type, reason, regarding.metadata.name])).toEqual([
      ["Warning", "DefinitionMissing", "default"],
    ]);
  });
});

describe("createHeldResets", () => {
  it("enqueues the SriovOperatorConfig when a node begins or ceases to be held, and not otherwise", () => {
    const { heldResets } = setUp();
    const keys: string[] = [];
    const stop = heldResets.source.start((key) => keys.push(key));
    heldResets.set("worker-1", undefined);
    heldResets.set("worker-1", hold);
    heldResets.set("worker-1", { ...hold });
    heldResets.set("worker-1", undefined);
    stop();
    heldResets.set("worker-1", hold);
    expect(keys).toEqual(["default", "default"]);
  });
});
