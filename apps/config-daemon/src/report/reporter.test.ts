// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeState, SriovNetworkNodeStateStatus } from "@switchyard/api";
import { createReporter, type NodeEvent } from "./reporter.ts";

const state: SriovNetworkNodeState = {
  apiVersion: "sriovnetwork.openshift.io/v1",
  kind: "SriovNetworkNodeState",
  metadata: { name: "worker-1", namespace: "ns", generation: 1 },
};

/** Collects the written statuses. The test decides when and how each write ends. */
function setUp({ mustWait = false } = {}) {
  const stored: SriovNetworkNodeStateStatus[] = [];
  const events: NodeEvent[] = [];
  const answers: ReturnType<typeof Promise.withResolvers<"written">>[] = [];
  const report = createReporter({
    writer: {
      async applyStatus({ status }) {
        const answer = Promise.withResolvers<"written">();
        answers.push(answer);
        await answer.promise;
        stored.push(status);
        return "written";
      },
    },
    linkLoss: { mustWait: () => mustWait },
    recordEvent: (_state, event) => {
      events.push(event);
    },
    now: () => new Date(0),
  });
  /** Ends the running write. */
  async function next(error?: Error): Promise<void> {
    await new Promise(setImmediate);
    const answer = answers.shift();
    if (error === undefined) answer?.resolve("written");
    else answer?.reject(error);
    await new Promise(setImmediate);
  }
  return { report, stored, events, next, pending: answers };
}

describe("the reporter", () => {
  it("writes reports in order", async () => {
    const { report, stored, next, pending } = setUp();
    const both = [
      report(state, { kind: "configuring", stepCount: 1 }, { interfaces: [] }),
      report(state, { kind: "settled", problems: [] }, { interfaces: [] }),
    ];
    await new Promise(setImmediate);
    expect(pending).toHaveLength(1);
    await next();
    await next();
    await Promise.all(both);
    expect(stored.map(({ syncStatus }) => syncStatus)).toEqual(["InProgress", "Succeeded"]);
  });

  it("continues after a report that could not be written", async () => {
    const { report, stored, next } = setUp();
    const lost = report(state, { kind: "configuring", stepCount: 1 }, { interfaces: [] }).catch((error: unknown) =>
      String(error),
    );
    await next(new Error("away"));
    expect(await lost).toBe("Error: away");
    const written = report(state, { kind: "settled", problems: [] }, { interfaces: [] });
    await next();
    await written;
    expect(stored.map(({ syncStatus }) => syncStatus)).toEqual(["Succeeded"]);
  });

  it("writes and records nothing while a lost link may return", async () => {
    const { report, events, pending } = setUp({ mustWait: true });
    await report(state, { kind: "settled", problems: [] }, { interfaces: [] });
    expect([pending, events]).toEqual([[], []]);
  });

  it("records an event for each VF that has newly been found with settings of a past pod", async () => {
    const { report, events, next } = setUp();
    const settings = [
      { name: "Vlan", value: "100", initial: "0" },
      { name: "trust", value: "on", initial: "off" },
    ];
    const interfacesWith = (...unclean: readonly number[]) => {
      const Vfs = [0, 1].map((vfID) => {
        const vf = { pciAddress: `0000:3b:02.${vfID}`, vfID };
        return unclean.includes(vfID) ? { ...vf, unclean: { settings } } : vf;
      });
      return [{ pciAddress: "0000:3b:00.0", Vfs }];
    };
    for (const interfaces of [interfacesWith(0), interfacesWith(0), interfacesWith(0, 1), interfacesWith()]) {
      const written = report(state, { kind: "settled", problems: [] }, { interfaces });
      await next();
      await written;
    }
    const of = (vfID: number) =>
      `On PF 0000:3b:00.0, a VF has settings of a pod that has ended, which will be reset: VF ${vfID}: Vlan "100" to "0", trust "on" to "off"`;
    expect(events.filter(({ reason }) => reason === "VfNotClean")).toEqual(
      [of(0), of(1)].map((message) => ({ type: "Warning", reason: "VfNotClean", message })),
    );
  });

  it("records an event for each new error and for each change of the sync status", async () => {
    const { report, events, next } = setUp();
    for (const phase of [
      { kind: "discovery-failed", message: "list: EACCES" },
      { kind: "discovery-failed", message: "list: EACCES" },
      { kind: "settled", problems: [] },
    ] as const) {
      const written = report(state, phase, { interfaces: [] });
      await next();
      await written;
    }
    expect(events).toEqual([
      { type: "Warning", reason: "SyncFailed", message: "list: EACCES" },
      { type: "Normal", reason: "SyncStatusChanged", message: 'Status changed from "Failed" to "Succeeded"' },
    ]);
  });
});
