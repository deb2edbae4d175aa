// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { logAbsentKinds, type OptionalCache } from "./caches.ts";

const cache = (resource: string, served: boolean, synced = Promise.resolve()): OptionalCache => ({
  ages: [{ resource }],
  served,
  whenSynced: () => synced,
});

async function logged(caches: readonly OptionalCache[], signal = new AbortController().signal) {
  const lines: unknown[] = [];
  const log = { info: (...line: readonly unknown[]) => void lines.push(line) };
  await logAbsentKinds(caches, { log, signal, effect: "nothing is configured" });
  return lines;
}

describe("logAbsentKinds", () => {
  it("names the kinds that are not served, and what does not run without them", async () => {
    expect(await logged([cache("pools", false), cache("nodes", true), cache("states", false)])).toEqual([
      [
        { resources: ["pools", "states"], effect: "nothing is configured" },
        "CustomResourceDefinitions are not installed",
      ],
    ]);
  });

  it("logs nothing if all kinds are served", async () => {
    expect(await logged([cache("nodes", true)])).toEqual([]);
  });

  it("logs nothing if the process ends before the kinds are known", async () => {
    const reason = new Error("SIGTERM");
    expect(await logged([cache("states", false, Promise.reject(reason))], AbortSignal.abort(reason))).toEqual([]);
  });
});
