// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { apiVersion, type SriovOperatorConfig } from "@switchyard/api";
import { KubeError, type Transport } from "@switchyard/kube";
import { createConfigExistsCheck } from "./config-exists.ts";

const never = new AbortController().signal;
const metadata = { name: "default", namespace: "sriov-network-operator", uid: "u-1" };
const seen: SriovOperatorConfig = { apiVersion, kind: "SriovOperatorConfig", metadata };

/** An API server with this SriovOperatorConfig, or without one. */
function setUp(stored: SriovOperatorConfig | undefined) {
  let nowMs = 0;
  let requests = 0;
  const transport = {
    request() {
      requests += 1;
      if (stored !== undefined) return Promise.resolve(stored);
      return Promise.reject(new KubeError("GET default", "NotFound", { status: 404 }));
    },
  } as Partial<Transport> as Transport;
  const check = createConfigExistsCheck(transport, () => nowMs);
  return {
    check: () => check(seen, never),
    pass: (ms: number) => (nowMs += ms),
    countRequests: () => requests,
  };
}

describe("configExists", () => {
  it.each([
    { what: "exists", stored: seen, is: true },
    { what: "is gone", stored: undefined, is: false },
    { what: "was created again", stored: { ...seen, metadata: { ...metadata, uid: "u-2" } }, is: false },
    {
      what: "is being deleted",
      stored: { ...seen, metadata: { ...metadata, deletionTimestamp: "2026-11-20T12:00:00Z" } },
      is: false,
    },
  ])("is $is for a SriovOperatorConfig that $what", async ({ stored, is }) => {
    expect(await setUp(stored).check()).toBe(is);
  });

  it.each([seen, undefined])("asks at most once a second", async (stored) => {
    const { check, pass, countRequests } = setUp(stored);
    for (const _ of [1, 2, 3]) await check();
    expect(countRequests()).toBe(1);
    pass(1_000);
    await check();
    expect(countRequests()).toBe(2);
  });
});
