// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceStatus, SriovNetworkNodeStateStatus } from "@switchyard/api";
import { createManualClock } from "@switchyard/host/testing";
import { clockOf } from "../testing/clock-of.ts";
import { createLinkLoss } from "./link-loss.ts";

const pf: InterfaceStatus = { pciAddress: "0000:3b:00.0", name: "ens1f0", mtu: 1500 };

function withSpeed(linkSpeed?: string): SriovNetworkNodeStateStatus {
  const interfaces = [{ ...pf, ...(linkSpeed !== undefined && { linkSpeed }) }];
  return { interfaces, syncStatus: "Succeeded", lastSyncError: "" };
}

const up = withSpeed("10000 Mb/s");
const down = withSpeed();

function setUp() {
  const clock = createManualClock();
  let wakes = 0;
  const linkLoss = createLinkLoss({
    clock: clockOf(clock),
    wake() {
      wakes++;
    },
  });
  return { clock, linkLoss, wakes: () => wakes };
}

describe("a status in which only a link is lost", () => {
  it("waits, and is not written if the link returns", async () => {
    const { clock, linkLoss, wakes } = setUp();
    expect(linkLoss.mustWait(up, down)).toBe(true);
    await clock.advance(3_000);
    expect(linkLoss.mustWait(up, withSpeed("10000 Mb/s"))).toBe(false);
    await clock.advance(60_000);
    expect(wakes()).toBe(0);
  });

  it("is written after 6 s without the link, by a pass that it starts", async () => {
    const { clock, linkLoss, wakes } = setUp();
    linkLoss.mustWait(up, down);
    await clock.advance(5_000);
    expect([linkLoss.mustWait(up, down), wakes()]).toEqual([true, 0]);
    await clock.advance(1_000);
    expect([linkLoss.mustWait(up, down), wakes()]).toEqual([false, 1]);
  });

  it("waits for the whole time at each loss", async () => {
    const { clock, linkLoss } = setUp();
    linkLoss.mustWait(up, down);
    await clock.advance(3_000);
    linkLoss.mustWait(up, up);
    await clock.advance(5_000);
    expect(linkLoss.mustWait(up, down)).toBe(true);
  });

  it("waits again after another status was written", async () => {
    const { clock, linkLoss } = setUp();
    linkLoss.mustWait(up, down);
    await clock.advance(6_000);
    expect(linkLoss.mustWait(withSpeed("10000 Mb/s"), down)).toBe(true);
  });

  it("starts no pass after it was disposed of", async () => {
    const { clock, linkLoss, wakes } = setUp();
    linkLoss.mustWait(up, down);
    linkLoss[Symbol.dispose]();
    await clock.advance(60_000);
    expect(wakes()).toBe(0);
  });
});

describe("a status is written at once", () => {
  it.each([
    { does: "if it is the first one", before: undefined, after: down },
    { does: "if a link came up", before: down, after: up },
    { does: "if a link has another speed", before: up, after: withSpeed("1000 Mb/s") },
    { does: "if the spec is applied", before: up, after: { ...down, observedGeneration: 2 } },
    { does: "if something failed", before: up, after: { ...down, syncStatus: "Failed", lastSyncError: "EIO" } },
    { does: "if a PF differs otherwise", before: up, after: { ...down, interfaces: [{ ...pf, mtu: 9000 }] } },
    { does: "if a PF is gone", before: up, after: { ...down, interfaces: [] } },
  ])("$does", ({ before, after }) => {
    expect(setUp().linkLoss.mustWait(before, after)).toBe(false);
  });
});
