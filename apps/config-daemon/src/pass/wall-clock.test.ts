// SPDX-License-Identifier: Apache-2.0
/**
 * The clock of the node is in 1970 or years ahead when the daemon configures the node, and a time service sets it afterwards. The daemon
 * changes nothing because of that, waits for nothing, and the times that it shows are right after the next report.
 */
import { afterEach, describe, expect, it, jest } from "@jest/globals";
import type { SriovNetworkNodeState } from "@switchyard/api";
import { createFakeKernel, igb, mlx5, pci } from "@switchyard/host/testing";
import { afxdpOn } from "../testing/afxdp-on.ts";
import { daemonOn } from "../testing/daemon-on.ts";
import { statusOf } from "../report/status-of.ts";

const pf = pci("0000:01:00.0");
const card = pci("0000:86:00.0");
const right = new Date("2026-11-28T12:00:00Z");

const clocks = [
  { clock: "in 1970", wrong: new Date(90_000) },
  { clock: "years ahead", wrong: new Date("2040-01-01T00:00:00Z") },
];

const state: SriovNetworkNodeState = {
  apiVersion: "sriovnetwork.openshift.io/v1",
  kind: "SriovNetworkNodeState",
  metadata: { name: "worker-1", generation: 1 },
  spec: { interfaces: [{ pciAddress: pf, name: "enp1s0f0", numVfs: 2, vfGroups: [{ vfRange: "0-1" }] }] },
  status: {},
};
const sockets = {
  interfaces: [{ pciAddress: card, mode: "subfunction", poolName: "fast", policyName: "p", numSfs: 2 } as const],
};

/** Only the wall clock is set: time that nobody sets goes on. */
function setClock(now: Date): void {
  const kept = ["hrtime", "nextTick", "performance", "queueMicrotask", "setImmediate", "clearImmediate"] as const;
  const timers = ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] as const;
  jest.useFakeTimers({ now, doNotFake: [...kept, ...timers] });
}

afterEach(() => {
  jest.useRealTimers();
});

describe.each(clocks)("a clock that is $clock and is set", ({ wrong }) => {
  it("costs the node nothing, with the same daemon and with the next one", async () => {
    const kernel = createFakeKernel({ nics: [igb(pf), mlx5(card)] });
    setClock(wrong);
    const daemons = () => [daemonOn(kernel.host()), afxdpOn(kernel.host())] as const;
    const [first, firstOfAfxdp] = daemons();
    expect([await first.pass(state), await firstOfAfxdp.pass(sockets)]).toEqual(["settled", "settled"]);
    const writes = kernel.writes.length;
    setClock(right);
    const [next, nextOfAfxdp] = daemons();
    for (const daemon of [first, next]) expect([await daemon.pass(state), daemon.error()]).toEqual(["settled", ""]);
    for (const daemon of [firstOfAfxdp, nextOfAfxdp]) {
      expect([await daemon.pass(sockets), daemon.error()]).toEqual(["settled", ""]);
    }
    expect(kernel.writes.slice(writes)).toEqual([]);
  });

  it("is in no condition after the next report", () => {
    const report = (status: SriovNetworkNodeState["status"], now: Date) =>
      statusOf({ status, generation: 1, found: undefined, phase: { kind: "settled", problems: [] }, now });
    const before = report(undefined, wrong);
    const after = report(before, right);
    expect(after.conditions?.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual(
      after.conditions?.map(() => "2026-11-28T12:00:00Z"),
    );
    expect(report(after, new Date(right.getTime() + 60_000)).conditions).toEqual(after.conditions);
  });
});
