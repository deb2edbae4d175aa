// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { microTime, readLease } from "./leader-election-lease.ts";
import type { Transport } from "./transport.ts";

describe("microTime", () => {
  it("has six digits, of which the last three count", () => {
    const date = new Date("2026-11-20T12:34:56.789Z");
    expect([7, 1007, 999].map((micros) => microTime(date, micros))).toEqual([
      "2026-11-20T12:34:56.789007Z",
      "2026-11-20T12:34:56.789007Z",
      "2026-11-20T12:34:56.789999Z",
    ]);
  });
});

describe("readLease", () => {
  const answering = (answer: unknown): Transport => ({
    namespace: "ns",
    request: () => Promise.resolve(answer),
    watch: () => {
      throw new TypeError("not to be called");
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
  const read = (answer: unknown) => readLease(answering(answer), { namespace: "ns", name: "a" }, { timeoutMs: 1 });
  const head = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" };
  const metadata = { namespace: "ns", name: "a", uid: "u", resourceVersion: "7" };

  it("reads a Lease that lacks everything as one that nobody holds", async () => {
    const object = { ...head, metadata };
    expect(await read(object)).toEqual({ revision: "u/7", holder: "", durationMs: 0, transitions: 0, object });
  });

  it("refuses what is no object", async () => {
    await expect(read({ hello: 1 })).rejects.toMatchObject({ code: "UnexpectedResponse" });
  });
});
