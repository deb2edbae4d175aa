// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import { createLogger } from "@switchyard/service";
import type { ReviewRequest } from "../admission-review.ts";
import { logAnswer } from "./log-answer.ts";

it("a refused change takes a line of a few kilobytes, whatever the client sends", () => {
  const lines: string[] = [];
  const stream = { write: (line: string) => lines.push(line) };
  const { log } = createLogger({ service: "webhook", level: "debug", stream });
  const long = "x".repeat(1_000_000);
  const problems = Array.from({ length: 1000 }, () => ({ field: long, message: long }));
  const request: ReviewRequest = {
    uid: long,
    group: long,
    kind: long,
    operation: "CREATE",
    namespace: long,
    name: long,
    userName: long,
    dryRun: false,
    object: null,
    oldObject: null,
  };
  logAnswer(log, { request, answer: { allowed: false, problems }, tookMs: 1 });
  expect(lines.map((line) => line.length < 5_000)).toEqual([true, true]);
  expect(lines[0]).toContain('"numProblems":1000');
});
