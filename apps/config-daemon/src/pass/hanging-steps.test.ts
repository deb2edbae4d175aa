// SPDX-License-Identifier: Apache-2.0
/** Calls that never return from the kernel: a write to sysfs, and a read that waits for it. The tests advance the clock. */
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, SriovNetworkNodeState } from "@switchyard/api";
import {
  createFakeKernel,
  createManualClock,
  igb,
  pci,
  type FakeKernel,
  type ManualClock,
} from "@switchyard/host/testing";
import { configureNode } from "./configure-node.ts";
import type { PassResult } from "./run-rounds.ts";
import { createFirmwareReader } from "../observe/firmware/firmware-reader.ts";
import { createObserver } from "../observe/observer.ts";
import { createWithDeadline } from "../deadlines/with-deadline.ts";
import { errorOf, type Phase } from "../report/phase.ts";
import type { Found } from "../report/status-of.ts";
import { requestOf } from "./drain-request.ts";
import { createRefusedChanges } from "./refused-changes.ts";
import { createRunningSteps } from "./running-steps.ts";
import { createUdevRules } from "../udev/keep-rules.ts";
import { createVhostModules } from "./vhost-modules.ts";

const [first, second] = [pci("0000:01:00.0"), pci("0000:01:00.1")];
const minuteMs = 60_000;

function stateWith(interfaces: readonly InterfaceSpec[], annotations: Readonly<Record<string, string>> = {}) {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: { name: "worker-1", generation: 1, annotations },
    spec: { interfaces },
  } as const satisfies SriovNetworkNodeState;
}

const vfsOf = (pciAddress: string, numVfs: number): InterfaceSpec => ({ pciAddress, numVfs, vfGroups: [] });

interface Given {
  readonly maxPfs?: number;
  readonly maxHanging?: number;
  readonly drains?: boolean;
}

/** Runs passes on a kernel, one after another. */
function daemonOn(kernel: FakeKernel, clock: ManualClock, { maxPfs = 4, maxHanging = 4, drains = false }: Given = {}) {
  const host = kernel.host();
  const reports: { readonly phase: Phase; readonly found: Found | undefined }[] = [];
  const requests: string[] = [];
  const returned: string[] = [];
  const timing = {
    stepDeadlineMs: 2 * minuteMs,
    linkTimeoutMs: 200,
    udevTimeoutMs: 1_000,
    nowMs: () => clock.nowMs(),
    sleep: (ms: number, signal: AbortSignal) => clock.sleep(ms, signal),
  };
  const now = () => new Date(Date.parse("2026-11-20T12:00:00Z") + clock.nowMs());
  const runningSteps = createRunningSteps({ nowMs: timing.nowMs, now });
  const firmware = createFirmwareReader(host, {
    timing,
    wake: () => undefined,
    policy: () => ({ isDisabled: false, isResetAllowed: true }),
  });
  const observeHost = createObserver(host, { timing, now, firmware });
  const withRecordDeadline = createWithDeadline(host, { timing, now });
  return {
    runningSteps,
    requests,
    returned,
    last: () => reports.at(-1),
    error: () =>
      reports
        .slice(-1)
        .map(({ phase }) => errorOf(phase))
        .join(),
    pass: (state: SriovNetworkNodeState): Promise<PassResult> =>
      configureNode(
        state,
        {
          host,
          timing,
          observeHost,
          withRecordDeadline,
          runningSteps,
          maxPfs,
          maxHanging,
          keepUdevRules: createUdevRules(host, { timing, now }),
          refusedChanges: createRefusedChanges({ nowMs: timing.nowMs }),
          loadVhostModules: createVhostModules(host, { timing, now }),
          isDrainDisabled: () => !drains,
          onPlan: () => undefined,
          onStep: () => undefined,
          onApplied: () => undefined,
          onLateEnd: (step) => returned.push(step.kind),
          requestDrain({ request }) {
            requests.push(request);
            return Promise.resolve();
          },
          withdrawRequest() {
            const isRequested = requestOf(state) !== "Idle";
            if (isRequested) requests.push("Idle");
            return Promise.resolve(isRequested);
          },
          report(phase, found) {
            reports.push({ phase, found });
            return Promise.resolve();
          },
        },
        new AbortController().signal,
      ),
  };
}

function setUp(given?: Given) {
  const clock = createManualClock();
  const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")], clock });
  return { clock, kernel, daemon: daemonOn(kernel, clock, given) };
}

/** Advances the clock until the pass has ended. */
async function over<Result>(clock: ManualClock, passing: Promise<Result>): Promise<Result> {
  const waiting = new Set([passing]);
  const ended = passing.finally(() => waiting.delete(passing));
  ended.catch(() => undefined);
  for (let turns = 0; waiting.size > 0 && turns < 200; turns++) await clock.advance(minuteMs / 10);
  expect(waiting.size).toBe(0);
  return ended;
}

const countOf = async (kernel: FakeKernel, pf: typeof first) => (await kernel.host().sriov.readPf(pf))?.sriov?.numVfs;

describe("a write to sriov_numvfs that does not return", () => {
  it("is reported with device and time until it returns, and does not delay other PFs", async () => {
    const { clock, kernel, daemon } = setUp({ maxPfs: 1 }); // as with parallelNicConfig: false
    const gate = Promise.withResolvers<undefined>();
    kernel.fault({ port: "sriov", method: "setNumVfs", target: first, nth: 1 }, { until: gate.promise });
    const both = stateWith([vfsOf(first, 3), vfsOf(second, 2)]);
    expect(await over(clock, daemon.pass(both))).toBe("settled");
    expect(daemon.error()).toBe(
      `set sriov_numvfs 3 on ${first}: no answer from the kernel for 2 min, since 2026-11-20T12:00:00Z`,
    );
    expect(await countOf(kernel, second)).toBe(2);
    expect(daemon.last()?.found?.interfaces.map(({ pciAddress, numVfs }) => [pciAddress, numVfs])).toEqual([
      [first, 0], // as it was before
      [second, 2],
    ]);

    // Later passes configure the other PF and report the age of the hanging step.
    await clock.advance(3.5 * minuteMs);
    await over(clock, daemon.pass(stateWith([vfsOf(first, 5), vfsOf(second, 4)])));
    expect(await countOf(kernel, second)).toBe(4);
    expect(daemon.error()).toContain("no answer from the kernel for 5 min, since");
    expect(kernel.writes.filter(({ args, method }) => method === "setNumVfs" && args[0] === first)).toHaveLength(1);

    gate.resolve(undefined);
    await clock.advance(10);
    expect(daemon.returned).toEqual(["set-num-vfs"]);
    expect(await over(clock, daemon.pass(both))).toBe("settled");
    expect([daemon.error(), daemon.runningSteps.hanging, daemon.runningSteps.oldestMs()]).toEqual(["", [], 0]);
    expect(await countOf(kernel, first)).toBe(3);
  });

  it("keeps the node drained, because the state of its PF is unknown", async () => {
    const { clock, kernel, daemon } = setUp({ drains: true });
    await kernel.host().sriov.setNumVfs(first, 2);
    const drained = {
      "sriovnetwork.openshift.io/desired-state": "Drain_Required",
      "sriovnetwork.openshift.io/current-state": "DrainComplete",
    };
    const state = stateWith([vfsOf(first, 4)], drained);
    const gate = Promise.withResolvers<undefined>();
    kernel.fault({ port: "sriov", method: "setNumVfs", target: first, nth: 1 }, { until: gate.promise });
    await over(clock, daemon.pass(state));
    await over(clock, daemon.pass(state));
    expect([daemon.requests, daemon.runningSteps.hanging.length]).toEqual([[], 1]);
    gate.resolve(undefined);
    await clock.advance(10);
    await over(clock, daemon.pass(state));
    expect([daemon.requests, await countOf(kernel, first)]).toEqual([["Idle"], 4]);
  });

  it("lets no other PF start when the limit of hanging steps is reached", async () => {
    const { clock, kernel, daemon } = setUp({ maxPfs: 1, maxHanging: 1 });
    const gate = Promise.withResolvers<undefined>();
    kernel.fault({ port: "sriov", method: "setNumVfs" }, { until: gate.promise });
    expect(await over(clock, daemon.pass(stateWith([vfsOf(first, 3), vfsOf(second, 2)])))).toBe("retry");
    expect(daemon.error()).toContain(`set sriov_numvfs 0 -> 2 on ${second}: not started because 1 other step hangs`);
    expect(kernel.writes.filter(({ method }) => method === "setNumVfs")).toHaveLength(1);
    gate.resolve(undefined);
  });
});

describe("a module that does not load", () => {
  it("blocks only the steps that need it", async () => {
    const { clock, kernel, daemon } = setUp();
    const gate = Promise.withResolvers<undefined>();
    kernel.fault({ port: "modules", method: "load" }, { until: gate.promise });
    const user = { vfRange: "0-0", deviceType: "vfio-pci", resourceName: "user" } as const;
    const state = stateWith([{ ...vfsOf(first, 1), vfGroups: [user] }, vfsOf(second, 2)]);
    await over(clock, daemon.pass(state));
    expect(daemon.error()).toContain("load kernel module vfio-pci: no answer from the kernel for 2 min");
    expect([await countOf(kernel, first), await countOf(kernel, second)]).toEqual([1, 2]);
    gate.resolve(undefined);
    await clock.advance(10);
    await over(clock, daemon.pass(state));
    const vfs = (await kernel.host().sriov.readPf(first))?.sriov?.vfs.map(({ driver }) => driver);
    expect([daemon.error(), vfs]).toEqual(["", ["vfio-pci"]]);
  });
});

describe("a record that cannot be written to the disk", () => {
  it("is reported, is not started a second time, and its PF is not changed before", async () => {
    const { clock, kernel, daemon } = setUp();
    const gate = Promise.withResolvers<undefined>();
    const fault = kernel.fault({ port: "records", method: "save" }, { until: gate.promise });
    const state = stateWith([vfsOf(first, 3)]);
    for (let nth = 0; nth < 2; nth++) {
      expect(await over(clock, daemon.pass(state))).toBe("retry");
      expect(daemon.error()).toBe(
        `save record on ${first}: no answer from the kernel for 2 min, since 2026-11-20T12:00:00Z`,
      );
    }
    expect([fault.hits, await countOf(kernel, first)]).toEqual([1, 0]);
    gate.resolve(undefined);
    expect(await over(clock, daemon.pass(state))).toBe("settled");
    expect([daemon.error(), await countOf(kernel, first)]).toEqual(["", 3]);
  });
});

describe("an observation of the host that does not return", () => {
  it("is reported until it returns, and is not started a second time", async () => {
    const { clock, kernel, daemon } = setUp();
    const gate = Promise.withResolvers<undefined>();
    const fault = kernel.fault({ port: "devlink", method: "readEswitchMode", target: first }, { until: gate.promise });
    const state = stateWith([]);
    for (const minutes of ["2 min", "2 min", "5 min"]) {
      if (minutes === "5 min") await clock.advance(3 * minuteMs);
      expect(await over(clock, daemon.pass(state))).toBe("retry");
      expect(daemon.error()).toBe(
        `read eswitch mode on ${first}: no answer from the kernel for ${minutes}, since 2026-11-20T12:00:00Z`,
      );
    }
    expect(daemon.last()).toMatchObject({ phase: { kind: "discovery-failed" }, found: undefined });
    expect(fault.hits).toBe(1);
    fault.lift();
    gate.resolve(undefined);
    expect(await over(clock, daemon.pass(state))).toBe("settled");
    expect(daemon.last()?.phase).toEqual({ kind: "settled", problems: [] });
  });
});
