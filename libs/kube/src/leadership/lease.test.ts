// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { readLease } from "./lease.ts";
import type { Transport } from "../http/transport.ts";

describe("readLease", () => {
  const respondingWith = (answer: unknown): Transport => ({
    namespace: "ns",
    request: () => Promise.resolve(answer),
    watch: () => {
      throw new TypeError("unexpected call");
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
  const read = (answer: unknown) => readLease(respondingWith(answer), { namespace: "ns", name: "a" }, { timeoutMs: 1 });
  const head = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" };
  const metadata = { namespace: "ns", name: "a", uid: "u", resourceVersion: "7" };

  it("reads a Lease without a spec as free", async () => {
    const object = { ...head, metadata };
    expect(await read(object)).toEqual({ revision: "u/7", holder: "", durationMs: 0, transitions: 0, object });
  });

  it("rejects a response that is not an object", async () => {
    await expect(read({ hello: 1 })).rejects.toMatchObject({ code: "UnexpectedResponse" });
  });
});
