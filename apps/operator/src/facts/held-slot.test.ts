// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, daemonManager, defined, upstreamDaemonManager, type Condition } from "@switchyard/api";
import type { ManagedFieldsEntry } from "@switchyard/kube";
import { toCachedDrain } from "./cached-drain.ts";
import { byAge, describeStalls, heldSlot, toCachedSlot } from "./held-slot.ts";

const noon = "2026-11-20T12:00:00Z";
const drained: Condition = condition("DrainComplete", noon);

function condition(type: string, lastTransitionTime: string, reason = "AllPodsGone", message = ""): Condition {
  return { type, status: "True", reason, message, lastTransitionTime };
}

interface Scene {
  readonly answer?: string;
  readonly request?: string;
  readonly conditions?: readonly Condition[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** Returns the slot of node a at this number of minutes after noon. */
function slotAt(minutes: number, { answer = "DrainComplete", request = "Drain_Required", ...scene }: Scene = {}) {
  const { conditions = [drained], managedFields = [] } = scene;
  const notes = { [annotations.currentState]: answer, [annotations.desiredState]: request };
  const metadata = { name: "a", annotations: notes, managedFields };
  const state = { apiVersion: "v1", kind: "SriovNetworkNodeState", metadata, status: { conditions } };
  const drain = toCachedDrain(state);
  const slot = toCachedSlot(state, drain);
  const subject = { name: "a", drain, ...defined({ slot }) };
  return heldSlot(subject, Date.parse(noon) + minutes * 60_000);
}

const reported = (time: string, manager = daemonManager): ManagedFieldsEntry => ({
  manager,
  operation: "Apply",
  subresource: "status",
  time,
});

describe("heldSlot", () => {
  it("is undefined while the answer is Idle", () => {
    expect(slotAt(60, { answer: "Idle" })).toBeUndefined();
    expect(heldSlot(undefined, 0)).toBeUndefined();
  });

  it("does not stall while pods are evicted, which other conditions report", () => {
    const conditions = [condition("DrainProgressing", noon)];
    expect(slotAt(60, { answer: "Draining", conditions })).toEqual({
      node: "a",
      state: "Draining",
      since: noon,
      sinceMs: Date.parse(noon),
      stall: undefined,
      stallsInMs: Infinity,
    });
  });

  it("stalls when the daemon has reported nothing for 5 minutes", () => {
    expect(slotAt(1)).toMatchObject({ stall: undefined, stallsInMs: 4 * 60_000 });
    expect(slotAt(5)?.stall?.message).toBe(
      `node a has been drained since ${noon} and keeps its slot: its config daemon has reported nothing since then`,
    );
  });

  it.each(["1970-01-01T00:01:00Z", "2040-01-01T00:00:00Z"])(
    "says nothing by the time of a clock that was not set: %s",
    (time) => {
      const conditions = [condition("DrainComplete", time)];
      expect(slotAt(60, { conditions })).toMatchObject({ since: undefined, stall: undefined, stallsInMs: Infinity });
      expect(slotAt(6, { managedFields: [reported(time)] })?.stall?.message).toContain("has reported nothing since");
    },
  );

  it.each([daemonManager, upstreamDaemonManager])("does not stall as long as %s reports", (manager) => {
    const managedFields = [reported("2026-11-20T12:04:00Z", manager), reported("2026-11-20T12:30:00Z", "somebody")];
    const conditions = [drained, condition("Progressing", noon, "Configuring", "3 steps to do")];
    expect(slotAt(6, { managedFields, conditions })).toMatchObject({ stall: undefined, stallsInMs: 3 * 60_000 });
    expect(slotAt(9, { managedFields, conditions })?.stall?.message).toMatch(
      /: its config daemon has reported nothing since 2026-11-20T12:04:00Z \(Configuring: 3 steps to do\)$/,
    );
  });

  it("stalls if the daemon reports a failure, however often it reports, and quotes it", () => {
    const words = "setting sriov_numvfs on 0000:3b:00.0 for 5 min";
    const conditions = [drained, condition("Degraded", noon, "StepHangs", words)];
    const managedFields = [reported("2026-11-20T12:05:00Z")];
    expect(slotAt(1, { conditions, managedFields })?.stall).toBeUndefined();
    expect(slotAt(5, { conditions, managedFields })?.stall?.message).toBe(
      `node a has been drained since ${noon} and keeps its slot: its config daemon reports StepHangs: ${words}`,
    );
  });

  it("stalls after 20 minutes if the node reboots", () => {
    expect(slotAt(19, { request: "Reboot_Required" })?.stall).toBeUndefined();
    expect(slotAt(20, { request: "Reboot_Required" })?.stall).toBeDefined();
  });

  it("uses the time of the answer if no condition has one, as with an external drainer", () => {
    const fieldsV1 = { "f:metadata": { "f:annotations": { [`f:${annotations.currentState}`]: {} } } };
    const managedFields = [
      { manager: "drainer", operation: "Update", time: "2026-11-20T12:10:00Z", fieldsV1 },
      { manager: "other", operation: "Update", time: "2026-11-20T12:20:00Z", fieldsV1: { "f:metadata": {} } },
    ];
    expect(slotAt(12, { conditions: [], managedFields })).toMatchObject({
      since: "2026-11-20T12:10:00Z",
      stallsInMs: 3 * 60_000,
    });
  });

  it("never stalls if the time is unknown or invalid", () => {
    for (const conditions of [[], [condition("DrainComplete", "yesterday")]]) {
      expect(slotAt(60, { conditions })).toMatchObject({ since: undefined, stall: undefined, stallsInMs: Infinity });
    }
  });

  it("cuts a long report of the daemon", () => {
    const conditions = [drained, condition("Degraded", noon, "StepFailed", "x".repeat(32_000))];
    expect(slotAt(60, { conditions })?.stall?.message.length).toBeLessThan(450);
  });
});

describe("describeStalls", () => {
  it("describes the longest-held slot and counts the others", () => {
    const slots = [
      slotAt(60),
      slotAt(60, { conditions: [condition("DrainComplete", "2026-11-20T11:00:00Z")] }),
      slotAt(1),
    ];
    const held = slots.filter((slot) => slot !== undefined);
    expect(describeStalls(held)).toMatch(/^node a has been drained since 2026-11-20T11:00:00Z .*; 1 more node$/);
    expect(describeStalls(held.slice(2))).toBeUndefined();
    expect(held.sort(byAge)[0]?.since).toBe("2026-11-20T11:00:00Z");
  });
});
