// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { AfxdpNetworkNodeState } from "@switchyard/api";
import type { NodeEvent } from "../../report/reporter.ts";
import { createAfxdpReports } from "./afxdp-reports.ts";

const state: AfxdpNetworkNodeState = {
  apiVersion: "afxdpnetwork.hns.dev/v1alpha1",
  kind: "AfxdpNetworkNodeState",
  metadata: { name: "worker-1", namespace: "ns", uid: "1" },
};
const [pciAddress, replacedCard] = ["0000:86:00.0", "15b3:1017, 02:00:00:00:00:01"];

function setUp() {
  const events: NodeEvent[] = [];
  const report = createAfxdpReports({
    writer: { applyStatus: () => Promise.resolve("written") },
    recordEvent: (_state, event) => events.push(event),
    now: () => new Date(0),
  });
  return { report, cards: () => events.filter(({ reason }) => reason === "CardReplaced") };
}

describe("createAfxdpReports", () => {
  it("records an event when a card was replaced, once, also after a restart of the daemon", async () => {
    const { report, cards } = setUp();
    const settled = { kind: "settled", problems: [] } as const;
    await report(state, settled, [{ pciAddress }]);
    expect(cards()).toEqual([]);
    for (const _ of ["first", "second"]) await report(state, settled, [{ pciAddress, replacedCard }]);
    const message = `${pciAddress} has another card than the one that Switchyard configured, ${replacedCard}, whose record is not used`;
    expect(cards()).toEqual([{ type: "Normal", reason: "CardReplaced", message }]);
    const next = setUp();
    await next.report({ ...state, status: { interfaces: [{ pciAddress, replacedCard }] } }, settled, [
      { pciAddress, replacedCard },
    ]);
    expect(next.cards()).toEqual([]);
  });
});
