// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { KubeError, type Clock } from "@switchyard/kube";
import { readVersion, requireKubernetes } from "./require-kubernetes.ts";

/** Returns the answers in turn, and throws KubeErrors. */
function setUp(...answers: readonly unknown[]) {
  const asked: string[] = [];
  const warnings: string[] = [];
  const end = new AbortController();
  const left = [...answers];
  const atOnce: Clock = {
    nowMs: () => 0,
    after(_delayMs, run) {
      queueMicrotask(run);
      return () => undefined;
    },
  };
  return {
    asked,
    warnings,
    end,
    check: () =>
      requireKubernetes({
        transport: {
          request({ method, path }) {
            asked.push(`${method} ${path}`);
            const answer = left.shift();
            if (left.length === 0) end.abort(new Error("no more answers"));
            return answer instanceof KubeError ? Promise.reject(answer) : Promise.resolve(answer);
          },
        },
        log: { warn: (...line: readonly unknown[]) => void warnings.push(String(line.at(-1))) },
        signal: end.signal,
        clock: atOnce,
        random: () => 0,
      }),
  };
}

describe("requireKubernetes", () => {
  it.each([
    { major: "1", minor: "30" },
    { major: "1", minor: "30+" },
    { major: "1", minor: "36" },
    { major: "2", minor: "0" },
  ])("accepts $major.$minor", async (info) => {
    const { check, warnings } = setUp(info);
    await check();
    expect(warnings).toEqual([]);
  });

  it.each([
    { major: "1", minor: "29" },
    { major: "1", minor: "29+" },
    { major: "1", minor: "9" },
    { major: "0", minor: "40" },
  ])("refuses $major.$minor with the version that it needs", async (info) => {
    const { check } = setUp(info);
    await expect(check()).rejects.toThrow(/is not supported: Switchyard needs 1\.30 or later\. Nothing was changed/);
  });

  it.each([
    { what: "a proxy that hides /version", answer: new KubeError("GET /version", "Forbidden", { status: 403 }) },
    { what: "a response that is not JSON", answer: new KubeError("GET /version", "UnexpectedResponse") },
    { what: "another object", answer: { major: 1, minor: "thirty" } },
    { what: "nothing", answer: null },
  ])("continues with a warning on $what", async ({ answer }) => {
    const { check, warnings } = setUp(answer);
    await check();
    expect(warnings).toEqual(["API server does not report its version; continuing"]);
  });

  it("waits for an API server that does not answer, and logs it once", async () => {
    const away = new KubeError("GET /version", "ConnectionLost");
    const starting = new KubeError("GET /version", "ServiceUnavailable", { status: 503 });
    const { check, warnings, asked } = setUp(away, starting, away, { major: "1", minor: "33" }, "not asked for");
    await check();
    expect(asked).toHaveLength(4);
    expect(warnings).toEqual(["API server does not answer; retrying"]);
  });

  it("rejects with the signal's reason while it waits", async () => {
    const { check } = setUp(new KubeError("GET /version", "ConnectionLost"));
    await expect(check()).rejects.toThrow("no more answers");
  });
});

describe("readVersion", () => {
  it("reads the leading digits of strings only", () => {
    expect(readVersion({ major: "1", minor: "31+", gitVersion: "v1.31.4-eks-1" })).toEqual({ major: 1, minor: 31 });
    for (const info of [{ major: "1" }, { major: "v1", minor: "31" }, { major: 1, minor: 31 }, "1.31", undefined]) {
      expect(readVersion(info)).toBeUndefined();
    }
  });
});
