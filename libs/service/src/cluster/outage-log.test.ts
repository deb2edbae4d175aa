// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { KubeError } from "@switchyard/kube";
import type { Logger } from "../logger.ts";
import { createOutageLog } from "./outage-log.ts";

const refused = (path: string) =>
  new KubeError(`GET ${path}`, "ConnectionLost", { cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }) });
const unavailable = new KubeError("GET /b", "ServiceUnavailable", { status: 503 });
const invalid = new KubeError("PATCH /c", "Invalid", { status: 422 });

/** A log that keeps its lines, and a clock that the test sets. */
function setUp() {
  const lines: (readonly [level: string, text: string, fields?: object])[] = [];
  const collect = (level: string) => (first: object | string, text?: string) => {
    lines.push(typeof first === "string" ? [level, first] : [level, text ?? "", first]);
  };
  const target: Logger = {
    error: collect("error"),
    warn: collect("warn"),
    info: collect("info"),
    debug: collect("debug"),
    trace: collect("trace"),
    child: () => target,
  };
  let nowMs = 0;
  let isTicking = false;
  const outage = createOutageLog(target, {
    clock: { nowMs: () => nowMs },
    every: () => {
      isTicking = true;
      return () => {
        isTicking = false;
      };
    },
  });
  return {
    outage,
    lines,
    isTicking: () => isTicking,
    pass(ms: number) {
      for (const end = nowMs + ms; nowMs < end; nowMs += 5_000) if (isTicking) outage.tick();
    },
  };
}

describe("the log of an outage", () => {
  it("has one line for each cause, one a minute, and one at the end", () => {
    const { outage, lines, pass, isTicking } = setUp();
    for (let second = 0; second < 130; second += 5) {
      for (let watch = 0; watch < 35; watch++) {
        outage.log.warn({ resource: `r${watch}`, error: refused(`/r${watch}`) }, "watch failed; retrying");
      }
      outage.log.error({ error: second > 100 ? unavailable : refused("/lease") }, "lease request failed; retrying");
      pass(5_000);
    }
    outage.answered();
    pass(30_000);
    expect(lines).toEqual([
      [
        "warn",
        "API server does not answer; retrying",
        { cause: "ConnectionLost ECONNREFUSED", first: "watch failed; retrying" },
      ],
      ["warn", "API server still does not answer all requests; retrying", expect.objectContaining({ seconds: 60 })],
      [
        "warn",
        "API server does not answer; retrying",
        { cause: "ServiceUnavailable 503", first: "lease request failed; retrying" },
      ],
      ["warn", "API server still does not answer all requests; retrying", expect.objectContaining({ seconds: 120 })],
      [
        "info",
        "API server answers again",
        { seconds: 130, failures: { "watch failed; retrying": 910, "lease request failed; retrying": 26 } },
      ],
    ]);
    expect(isTicking()).toBe(false);
  });

  it("does not end while some requests fail, and has other errors as they are", () => {
    const { outage, lines, pass } = setUp();
    for (let second = 0; second < 60; second += 15) {
      outage.log.warn({ error: unavailable }, "watch failed; retrying");
      outage.answered();
      pass(15_000);
    }
    outage.log.warn({ error: invalid }, "reconcile failed; retrying");
    outage.log.warn("something else");
    expect(lines.map(([level, text]) => `${level} ${text}`)).toEqual([
      "warn API server does not answer; retrying",
      "warn reconcile failed; retrying",
      "warn something else",
    ]);
  });

  it("has a certificate that is not trusted as it is, which an administrator has to correct", () => {
    const { outage, lines } = setUp();
    const cause = Object.assign(new Error("x"), { code: "CERT_HAS_EXPIRED" });
    outage.log.warn({ error: new KubeError("GET /a", "ConnectionLost", { cause }) }, "watch failed; retrying");
    expect(lines.map(([, text]) => text)).toEqual(["watch failed; retrying"]);
  });
});
