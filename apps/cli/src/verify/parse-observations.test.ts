// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { parseObservations } from "./parse-observations.ts";

describe("parseObservations", () => {
  it("leaves out lines that are no observation, and members of another type", () => {
    const log = [
      "(node:1) Warning: something",
      '{"kind":"heard","pod":7,"network":"default/blue"}',
      '{"kind":"target","pod":"a"}',
      '{"kind":"interface","names":["net1",7],"found":{"mac":"AA:00:00:00:00:01"},"rdmaMode":"other"}',
      '{"kind":"done"}',
      '{"kind":"don',
    ].join("\n");
    expect(parseObservations(log)).toEqual([
      { kind: "interface", names: ["net1"], vfioGroups: [], rdmaDevices: [], hasUverbs: false },
      { kind: "done" },
    ]);
  });

  it("never throws", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(Array.isArray(parseObservations(`${text}\n{"kind":"target","small":${JSON.stringify(text)}}`))).toBe(
          true,
        );
      }),
    );
  });
});
