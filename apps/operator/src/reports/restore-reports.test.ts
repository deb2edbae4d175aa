// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { EventToRecord } from "@switchyard/kube";
import { createCluster } from "../testing/cluster.ts";
import { createRestoreReports } from "./restore-reports.ts";

const never = new AbortController().signal;

function setUp() {
  const cluster = createCluster();
  const world = { doubts: 0, lines: 0 };
  const news: EventToRecord[] = [];
  const caches = [{ doubt: () => (world.doubts += 1) }, { name: "a cache that is made of others" }];
  const restores = createRestoreReports({ caches, log: { warn: () => (world.lines += 1) } });
  const events = { record: (told: EventToRecord) => void news.push(told) };
  function start(): { readonly keys: string[]; readonly reconcile: () => Promise<unknown> } {
    const { sources, reconcile } = restores.controller({ events, caches: cluster });
    const keys: string[] = [];
    for (const source of sources) source.start((key) => void keys.push(key));
    return { keys, reconcile: () => reconcile("default", never) };
  }
  return { ...cluster, world, news, restores, start };
}

describe("createRestoreReports", () => {
  it("makes the caches list their objects again, and sends one event", async () => {
    const { addConfig, world, news, restores, start } = setUp();
    addConfig();
    const { keys, reconcile } = start();
    await reconcile();
    expect([keys, news]).toEqual([[], []]);
    restores.onRewind();
    await reconcile();
    await reconcile();
    expect([world, keys]).toEqual([{ doubts: 1, lines: 1 }, ["default"]]);
    expect(news.map(({ type, reason, regarding }) => [type, reason, regarding.metadata.name])).toEqual([
      ["Warning", "BackupRestored", "default"],
    ]);
  });

  it("sends the event of a restore that a replica noticed before it led", async () => {
    const { addConfig, news, restores, start } = setUp();
    addConfig();
    restores.onRewind();
    const { keys, reconcile } = start();
    await reconcile();
    expect([keys, news.length]).toEqual([["default"], 1]);
  });
});
