// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { conditionsFor, isReady } from "./condition-summary.ts";

const ready = conditionsFor({ state: "ready", reason: "Configured", message: "" }, [], 2, new Date(0));

describe("isReady", () => {
  it("is true for the observed generation", () => {
    expect(isReady({ metadata: { generation: 2 }, status: { conditions: ready } })).toBe(true);
    expect(isReady({ metadata: { generation: 3 }, status: { conditions: ready } })).toBe(false);
  });

  it("is false without the condition, or if it is not True", () => {
    const idle = conditionsFor({ state: "idle", reason: "NoNodes", message: "" }, ready, 2, new Date(0));
    expect(isReady({ metadata: { generation: 2 } })).toBe(false);
    expect(isReady({ metadata: { generation: 2 }, status: { conditions: idle } })).toBe(false);
  });
});
