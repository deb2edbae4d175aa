// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { KubeError } from "@switchyard/kube";
import type { Logger } from "../logger.ts";
import { createRightsLog } from "./rights-log.ts";

const forbidden = (tried: string) =>
  new KubeError(tried, "Forbidden", { status: 403, words: `User "nobody" cannot, by ${tried}` });

/** A log that keeps its lines, and timers that the test lets expire. */
function setUp() {
  const lines: (readonly [text: string, fields?: object])[] = [];
  const collect = (first: object | string, text?: string) => {
    lines.push(typeof first === "string" ? [first] : [text ?? "", first]);
  };
  const target: Logger = {
    ...{ error: collect, warn: collect, info: collect, debug: collect, trace: collect },
    child: () => target,
  };
  let nowMs = 0;
  let expire: (() => void) | undefined;
  const after = (_delayMs: number, run: () => void) => {
    expire = run;
    return () => {
      expire = undefined;
    };
  };
  const rights = createRightsLog(target, { nowMs: () => nowMs, after });
  return {
    rights,
    lines,
    pass(ms: number) {
      nowMs += ms;
      expire?.();
    },
  };
}

const watchFailed = "watch failed; retrying";

describe("the log of missing rights", () => {
  it("has one line for all refused reads, and again after ten minutes", () => {
    const { rights, lines, pass } = setUp();
    const fail = () => {
      for (const path of [
        "/api/v1/nodes",
        "/apis/apps/v1/namespaces/x/daemonsets?limit=500",
        "/apis/coordination.k8s.io/v1/namespaces/x/leases/op",
      ]) {
        rights.log.child({ part: 1 }).warn({ error: forbidden(`GET ${path}`) }, watchFailed);
      }
    };
    fail();
    fail();
    expect(lines).toEqual([]);
    pass(6_000);
    fail();
    pass(6_000);
    const line = [
      "the API server refuses requests because rights are missing; retrying",
      {
        rights: ["get leases.coordination.k8s.io in x", "list daemonsets.apps in x", "list nodes"],
        example: 'User "nobody" cannot, by GET /api/v1/nodes',
      },
    ];
    expect(lines).toEqual([line]);
    pass(600_000);
    fail();
    pass(6_000);
    expect(lines).toEqual([line, line]);
  });

  it("has refused writes and other errors as they are, and ends with what it has collected", () => {
    const { rights, lines } = setUp();
    rights.log.warn({ error: forbidden("POST /api/v1/namespaces/x/pods") }, "reconcile failed; retrying");
    rights.log.error({ error: new KubeError("GET /api/v1/pods", "NotFound") }, watchFailed);
    rights.log.warn({ error: forbidden("GET /api/v1/namespaces") }, watchFailed);
    rights.log.warn("something else");
    rights.flush();
    expect(lines.map(([text]) => text).slice(0, 3)).toEqual([
      "reconcile failed; retrying",
      watchFailed,
      "something else",
    ]);
    expect(lines.at(-1)).toMatchObject([expect.any(String), { rights: ["list namespaces"] }]);
  });
});
