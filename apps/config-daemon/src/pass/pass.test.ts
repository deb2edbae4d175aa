// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodeState } from "@switchyard/api";
import { createFakeKernel, igb, systemKernelClock } from "@switchyard/host/testing";
import { KubeError, type Transport } from "@switchyard/kube";
import { createLogger, Registry } from "@switchyard/service";
import { Writable } from "node:stream";
import { createDaemonMetrics } from "../report/daemon-metrics.ts";
import { createObserver } from "../observe/observer.ts";
import { createMainLoop } from "./main-loop.ts";
import { createPass } from "./pass.ts";
import { createWithDeadline } from "../deadlines/with-deadline.ts";
import { errorOf, type Phase } from "../report/phase.ts";
import { createRefusedChanges } from "./refused-changes.ts";
import { createRunningSteps } from "./running-steps.ts";
import { createUdevRules } from "../udev/keep-rules.ts";
import { createVhostModules } from "./vhost-modules.ts";

const state: SriovNetworkNodeState = {
  apiVersion: "sriovnetwork.openshift.io/v1",
  kind: "SriovNetworkNodeState",
  metadata: { name: "worker-1", namespace: "ns", generation: 1 },
  spec: {},
};

/** Runs passes of a daemon. `write` receives the status. */
function setUp(write: (phase: Phase) => Promise<void>) {
  const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")] });
  const host = kernel.host();
  const { nowMs, sleep } = systemKernelClock;
  const timing = { stepDeadlineMs: 60_000, linkTimeoutMs: 200, udevTimeoutMs: 1_000, nowMs, sleep };
  const now = () => new Date();
  const runningSteps = createRunningSteps({ nowMs, now });
  const metrics = new Registry();
  const pass = createPass({
    host,
    timing,
    runningSteps,
    observeHost: createObserver(host, { timing, now, firmware: { addTo: (pfs) => Promise.resolve(pfs) } }),
    withRecordDeadline: createWithDeadline(host, { timing, now }),
    keepUdevRules: createUdevRules(host, { timing, now }),
    refusedChanges: createRefusedChanges({ nowMs }),
    loadVhostModules: createVhostModules(host, { timing, now }),
    firmware: { stepEnded: () => undefined },
    maxPfs: 4,
    maxHanging: 4,
    // These tests send no other requests, because only the status changes.
    transport: { request: () => Promise.reject(new Error("not expected")) } as unknown as Transport,
    useExternalDrainer: false,
    isDrainDisabled: () => true,
    report: (_state, phase) => write(phase),
    metrics: createDaemonMetrics(metrics, { nodeName: "worker-1", now, oldestMs: runningSteps.oldestMs }),
    loop: createMainLoop({ nowMs }),
    lockCondition: { write: () => Promise.resolve(), clear: () => Promise.resolve() },
    log: createLogger({
      service: "test",
      level: "error",
      stream: new Writable({
        write: (_chunk, _code, done) => {
          done();
        },
      }),
    }).log,
    wake: () => undefined,
    signal: new AbortController().signal,
  });
  return { kernel, metrics, pass: () => pass(state, new AbortController().signal) };
}

describe("a pass with an unexpected error", () => {
  it("is reported and retried until it succeeds", async () => {
    const phases: Phase[] = [];
    const { kernel, pass, metrics } = setUp((phase) => Promise.resolve(void phases.push(phase)));
    const fault = kernel.fault(
      { port: "links", method: "listLinks" },
      {
        act: () => {
          throw new TypeError("cannot read properties of undefined");
        },
      },
    );
    expect(await pass()).toEqual({ afterMs: 1_000, hasFailed: true });
    expect(phases.map(errorOf)).toEqual(["unexpected TypeError: cannot read properties of undefined"]);
    expect(await metrics.metrics()).toContain('switchyard_node_sync_status{sync_status="Failed",node="worker-1"} 1');
    fault.lift();
    expect(await pass()).toMatchObject({ hasFailed: false });
    expect(phases.at(-1)).toEqual({ kind: "settled", problems: [] });
  });

  it("is reported again until the API server accepts the report", async () => {
    const away = new KubeError("PATCH x", "ConnectionLost");
    const phases: Phase[] = [];
    let isAway = true;
    const { pass } = setUp((phase) => {
      phases.push(phase);
      return isAway || phase.kind === "settled" ? Promise.reject(away) : Promise.resolve();
    });
    const pauses: number[] = [];
    for (let nth = 0; nth < 8; nth++) pauses.push((await pass()).afterMs);
    expect(Math.max(...pauses)).toBe(5_000);
    isAway = false;
    await pass();
    expect(phases.at(-1)).toEqual({ kind: "pass-failed", message: away.message });
  });
});
