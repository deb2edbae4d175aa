// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { readLease } from "./lease.ts";
import type { Transport } from "../http/transport.ts";

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
