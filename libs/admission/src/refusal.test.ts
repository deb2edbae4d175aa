// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { admit } from "./admit.ts";
import { describeRefusal } from "./finding.ts";
import { create, policy, stoppedClock, update, view } from "./testing/objects.ts";

describe("describeRefusal", () => {
  it("lists all problems in one line, each with its field", () => {
    const problems = [
      { field: "spec.mtu", message: "too large" },
      { field: "", message: "no object" },
    ];
    expect(describeRefusal(problems)).toEqual({
      code: 403,
      message: "spec.mtu: too large; no object",
      shown: problems,
    });
  });

  it("lists at most 50 problems", () => {
    const problems = Array.from({ length: 70 }, (_, index) => ({ field: `a[${index}]`, message: "wrong" }));
    const { message, shown } = describeRefusal(problems);
    expect(shown).toHaveLength(50);
    expect(message).toMatch(/a\[49\]: wrong; and 20 more problems$/);
  });
});

describe("a reserved key", () => {
  const poisoned = policy("p1", {
    nodeSelector: Object.fromEntries([
      ["__proto__", "x"],
      ["constructor", "y"],
    ]),
  });

  it("is refused with its path, but tolerated in an object that already has it", () => {
    const { problems } = admit(create(poisoned), view(), stoppedClock);
    expect(problems).toEqual([
      { field: "spec.nodeSelector.__proto__", message: 'the key "__proto__" is reserved: use another one' },
    ]);
    const changed = { ...poisoned, spec: { ...poisoned.spec, mtu: 9000 } };
    expect(admit(update(poisoned, changed), view(), stoppedClock)).toMatchObject({
      allowed: true,
      warnings: ['spec.nodeSelector.__proto__: the key "__proto__" is reserved: use another one'],
    });
  });
});
