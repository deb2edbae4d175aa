// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { encodeLine, parseReport, parseRequest } from "./protocol.ts";

const id = fc.nat();
const request = fc.oneof(
  fc.record({
    type: fc.constant("start" as const),
    id,
    argv: fc.array(fc.string()),
    env: fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true }),
    input: fc.boolean(),
  }),
  fc.record({ type: fc.constant("input" as const), id, data: fc.base64String() }, { requiredKeys: ["type", "id"] }),
  fc.record({ type: fc.constant("kill" as const), id, signal: fc.string() }),
);
const report = fc.oneof(
  fc.record({ type: fc.constant("hello" as const), bootId: fc.string() }),
  fc.record({
    type: fc.constant("output" as const),
    id,
    stream: fc.constantFrom("stdout" as const, "stderr" as const),
    data: fc.base64String(),
  }),
  fc.record({ type: fc.constant("exit" as const), id, code: fc.nat(255) }),
);

describe("a message of the protocol", () => {
  it("is one line and is parsed unchanged", () => {
    fc.assert(
      fc.property(request, (message) => {
        expect(encodeLine(message).slice(0, -1)).not.toContain("\n");
        expect(parseRequest(encodeLine(message))).toEqual(message);
      }),
    );
    fc.assert(
      fc.property(report, (message) => {
        expect(parseReport(encodeLine(message))).toEqual(message);
      }),
    );
  });

  it("is ignored if a reset cut it off", () => {
    fc.assert(
      fc.property(report, fc.nat(), (message, length) => {
        const line = encodeLine(message).trimEnd();
        expect(parseReport(line.slice(0, length % line.length))).toBeUndefined();
      }),
    );
  });

  it.each([
    "",
    "null",
    "[]",
    "7",
    '{"type":"exit","id":"7","code":0}',
    '{"type":"start","id":1,"argv":["a",2],"env":{}}',
  ])("is none when a field has another type: %s", (line) => {
    expect(parseReport(line)).toBeUndefined();
    expect(parseRequest(line)).toBeUndefined();
  });
});
