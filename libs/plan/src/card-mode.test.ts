// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { cardModeOf, cardModeSettings, valuesForEmbeddedCpu, type CardModeSetting } from "./card-mode.ts";

const names = Object.keys(cardModeSettings) as readonly CardModeSetting[];

function modeOf(model: "bluefield-2" | "bluefield-3", values: readonly (number | undefined)[]) {
  return cardModeOf(model, (name) => values[names.indexOf(name)]);
}

const x = undefined;

describe("cardModeOf", () => {
  it.each([
    { model: "bluefield-2", values: [1, 0, 0, 0, 0], mode: "embedded-cpu" },
    { model: "bluefield-2", values: [1, 1, 1, 1, 1], mode: "nic" },
    { model: "bluefield-2", values: [0, x, x, x, x], mode: "separated-host" },
    { model: "bluefield-2", values: [1, 0, 1, 0, 0], mode: "unknown" },
    { model: "bluefield-2", values: [1, 1, 1, 1, 0], mode: "unknown" },
    { model: "bluefield-2", values: [1, x, x, x, x], mode: "unknown" }, // mstflint before 4.20
    { model: "bluefield-2", values: [1, 0, 0, 0, 2], mode: "unknown" },
    { model: "bluefield-2", values: [x, 0, 0, 0, 0], mode: "unknown" },
    { model: "bluefield-2", values: [2, 0, 0, 0, 0], mode: "unknown" },
    { model: "bluefield-3", values: [1, 0, 0, 0, 0], mode: "embedded-cpu" },
    { model: "bluefield-3", values: [1, 1, 0, 1, 0], mode: "embedded-cpu" },
    { model: "bluefield-3", values: [1, 0, 1, x, 1], mode: "nic" },
    { model: "bluefield-3", values: [0, x, x, x, x], mode: "separated-host" },
    { model: "bluefield-3", values: [1, 0, 0, 0, x], mode: "unknown" },
    { model: "bluefield-3", values: [x, x, x, x, x], mode: "unknown" },
  ] as const)("of a $model with $values is $mode (smartnic.md 7.1)", ({ model, values, mode }) => {
    expect(modeOf(model, values)).toBe(mode);
  });

  it("is embedded-cpu after the values that lead to it, from every state", () => {
    const value = fc.integer({ min: 0, max: 1 });
    const state = fc.record({
      model: fc.constantFrom("bluefield-2", "bluefield-3"),
      values: fc.tuple(value, value, value, value, value),
    });
    fc.assert(
      fc.property(state, ({ model, values }) => {
        // In separated host mode, the firmware has the first setting only, and the second change follows.
        let now = new Map<CardModeSetting, number>(names.map((name, index) => [name, values[index] ?? 0]));
        for (let change = 0; change < 2; change++) {
          const mode = cardModeOf(model, (name) => now.get(name));
          if (mode === "embedded-cpu") break;
          now = new Map([
            ...now,
            ...(Object.entries(valuesForEmbeddedCpu(model, mode)) as [CardModeSetting, number][]),
          ]);
        }
        expect(cardModeOf(model, (name) => now.get(name))).toBe("embedded-cpu");
      }),
    );
  });
});
