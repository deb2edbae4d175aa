// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { EventToRecord, Interference } from "@switchyard/kube";
import { createContestEvents } from "./contest-events.ts";

const network = { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetwork", metadata: { name: "a", uid: "1" } };
const contested: Interference = { kind: "contested", message: 'field manager "other" changes status' };

describe("createContestEvents", () => {
  it("warns once for each contest, and asks to be called again as long as it goes on", () => {
    const told: EventToRecord[] = [];
    const events = { record: (item: EventToRecord) => void told.push(item), [Symbol.asyncDispose]: () => Promise.resolve() };
    const recordContest = createContestEvents(events);
    expect(recordContest(network, undefined)).toBeUndefined();
    for (let nth = 0; nth < 3; nth++) expect(recordContest(network, contested)).toEqual({ afterMs: 60_000 });
    expect(told).toEqual([
      { regarding: network, type: "Warning", reason: "StatusContested", note: contested.message },
    ]);
    expect(recordContest(network, undefined)).toBeUndefined();
    recordContest(network, contested);
    expect(told).toHaveLength(2);
  });
});
