// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import { KubeError, type Clock } from "@switchyard/kube";
import { limitTime } from "./command.ts";

const refused = new KubeError("GET /apis", "ConnectionLost", { words: "connect ECONNREFUSED 127.0.0.1:6443" });
const timeoutMs = 3_000;

/** Time that stands still: the test ends the limit, and pauses end at once or never. */
function setUp({ pauses = "at once" }: { readonly pauses?: "at once" | "never" } = {}) {
  const lines: string[] = [];
  let end: () => void = () => undefined;
  const clock: Clock = {
    nowMs: () => 0,
    after(delayMs, run) {
      if (delayMs === timeoutMs) end = run;
      else if (pauses === "at once") queueMicrotask(run);
      return () => undefined;
    },
  };
  const print = (line: string) => lines.push(line);
  const limit = limitTime({ timeoutMs, signal: new AbortController().signal, print, clock });
  return { limit, lines, endTime: () => setImmediate(end) };
}

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => {
      reject(new KubeError("GET /apis", "Timeout"));
    });
  });

it("names the last error when the time ends during a pause", async () => {
  const { limit, lines, endTime } = setUp({ pauses: "never" });
  endTime();
  await expect(limit.retry(() => Promise.reject(refused))).rejects.toMatchObject({
    code: "TIMED_OUT",
    message: expect.stringMatching(/^not finished within 3 s: .*ECONNREFUSED/),
  });
  expect(lines).toEqual([expect.stringMatching(/^the API server does not answer; retrying: .*ECONNREFUSED/)]);
});

it("names the last error when the time ends during a later request", async () => {
  const { limit, endTime } = setUp();
  let requests = 0;
  const request = (signal: AbortSignal) => {
    if (++requests === 1) return Promise.reject(refused);
    endTime();
    return untilAborted(signal);
  };
  await expect(limit.retry(request)).rejects.toMatchObject({
    code: "TIMED_OUT",
    message: expect.stringContaining("ECONNREFUSED"),
  });
  expect(requests).toBe(2);
});

it("says that nothing answers when the time ends during the first request", async () => {
  const { limit, endTime } = setUp();
  endTime();
  await expect(limit.retry(untilAborted)).rejects.toMatchObject({
    message: "not finished within 3 s: the API server does not answer",
  });
});

it("says what the last pause waited for when the time ends during the next request", async () => {
  const { limit, endTime } = setUp();
  await limit.pause(250, "crd x is being deleted");
  endTime();
  await expect(limit.retry(untilAborted)).rejects.toMatchObject({
    message: "not finished within 3 s: the API server does not answer; last seen: crd x is being deleted",
  });
});
