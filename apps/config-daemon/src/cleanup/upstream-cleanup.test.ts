// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createFakeKernel, createManualClock, igb, upstreamSystemdMode } from "@switchyard/host/testing";
import { createRunningSteps } from "../pass/running-steps.ts";
import { silentLogger } from "@switchyard/service/testing";
import { startUpstreamCleanup } from "./upstream-cleanup.ts";

const minuteMs = 60_000;

/** A host with files of the Go operator's systemd mode, and a clock that the test advances. */
function setUp() {
  const clock = createManualClock();
  const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")], clock });
  for (const [path, text] of upstreamSystemdMode()) kernel.writeFile(path, text);
  const nowMs = () => clock.nowMs();
  const timing = {
    stepDeadlineMs: 2 * minuteMs,
    linkTimeoutMs: 200,
    udevTimeoutMs: 1_000,
    nowMs,
    sleep: (ms: number, signal: AbortSignal) => clock.sleep(ms, signal),
  };
  const now = () => new Date(Date.parse("2026-11-20T12:00:00Z") + clock.nowMs());
  const runningSteps = createRunningSteps({ nowMs, now });
  const failures: string[] = [];
  const wakes: number[] = [];
  const stop = new AbortController();
  const start = () =>
    startUpstreamCleanup({
      host: kernel.host(),
      timing,
      runningSteps,
      log: silentLogger,
      signal: stop.signal,
      onFailure: (message) => failures.push(message),
      wake: () => wakes.push(nowMs()),
    });
  return { clock, kernel, runningSteps, failures, wakes, stop, start };
}

describe("the removal of the Go operator's files", () => {
  it("is complete after the first attempt if nothing fails", async () => {
    const { kernel, runningSteps, failures, start } = setUp();
    await start().firstAttempt;
    expect([kernel.listFiles(), failures, runningSteps.describe()]).toEqual([[], [], []]);
  });

  it("is retried with back-off, and each failure is reported", async () => {
    const { clock, kernel, failures, start } = setUp();
    const fault = kernel.fault({ port: "files", method: "remove" }, { code: "EROFS" });
    await start().firstAttempt;
    expect(failures).toEqual([
      expect.stringMatching(
        /^Files of the systemd mode were not removed and can configure NICs at the next boot: remove on \/\S+: EROFS/,
      ),
    ]);
    await clock.advance(minuteMs);
    expect(failures).toHaveLength(2);
    await clock.advance(minuteMs);
    expect(failures).toHaveLength(2);
    await clock.advance(minuteMs);
    expect(failures).toHaveLength(3);
    fault.lift();
    await clock.advance(4 * minuteMs);
    expect(kernel.listFiles()).toEqual([]);
    await clock.advance(120 * minuteMs);
    expect(failures).toHaveLength(3);
  });

  it("is reported as hanging with the call and the time, and ends when the kernel answers", async () => {
    const { clock, kernel, runningSteps, wakes, start } = setUp();
    const gate = Promise.withResolvers<undefined>();
    kernel.fault({ port: "files", method: "remove", nth: 1 }, { until: gate.promise });
    const { firstAttempt } = start();
    await clock.advance(2 * minuteMs);
    await firstAttempt;
    expect(runningSteps.describe()).toEqual([
      expect.stringMatching(/^remove on \/\S+: no answer from the kernel for 2 min, since 2026-11-20T12:00:00Z$/),
    ]);
    expect([runningSteps.hanging, runningSteps.hangingCount]).toEqual([[], 1]);
    gate.resolve(undefined);
    await clock.advance(10);
    expect([runningSteps.describe(), wakes.length, kernel.listFiles()]).toEqual([[], 2, []]);
  });

  it("is not retried after the daemon stops", async () => {
    const { clock, kernel, failures, stop, start } = setUp();
    kernel.fault({ port: "files", method: "remove" }, { code: "EROFS" });
    await start().firstAttempt;
    stop.abort();
    await clock.advance(120 * minuteMs);
    expect(failures).toHaveLength(1);
  });
});
