// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { durationMs, integer, listenAddress, oneOf, text, yesOrNo } from "./flag-kinds.ts";

describe("durationMs", () => {
  it.each([
    ["0", 0],
    ["250ms", 250],
    ["30s", 30_000],
    ["5m", 300_000],
    ["1h30m", 5_400_000],
    ["1h2m3s4ms", 3_723_004],
  ])("reads %s as %d ms", (written, ms) => {
    expect(durationMs.parse(written)).toBe(ms);
  });

  it.each(["", "5", "-5s", "1.5h", "5 s", "30s1m", "s", "1d"])("refuses %j", (written) => {
    expect(durationMs.parse(written)).toBeUndefined();
  });

  it("is the sum of its parts", () => {
    const parts = fc.tuple(fc.nat(99), fc.nat(99), fc.nat(99), fc.nat(9999));
    fc.assert(
      fc.property(parts, ([hours, minutes, seconds, ms]) => {
        const sum = ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms;
        expect(durationMs.parse(`${hours}h${minutes}m${seconds}s${ms}ms`)).toBe(sum);
      }),
    );
  });
});

describe("listenAddress", () => {
  it.each([
    ["0", "off"],
    ["127.0.0.1:8081", { host: "127.0.0.1", port: 8081 }],
    [":8081", { host: "", port: 8081 }],
    ["[::1]:0", { host: "::1", port: 0 }],
    ["localhost:65535", { host: "localhost", port: 65535 }],
  ])("reads %s", (written, address) => {
    expect(listenAddress.parse(written)).toEqual(address);
  });

  it.each(["", "8081", "::1:8081", "localhost", "localhost:", "localhost:65536", "localhost:http"])(
    "refuses %j",
    (written) => {
      expect(listenAddress.parse(written)).toBeUndefined();
    },
  );
});

describe("integer", () => {
  const percent = integer({ minimum: 0, maximum: 100 });

  it("accepts both bounds and nothing outside them", () => {
    expect(["-1", "0", "100", "101"].map(percent.parse)).toEqual([undefined, 0, 100, undefined]);
  });

  it("refuses other texts that Number() accepts", () => {
    expect(["", " 1", "1e1", "0x1", "1.0", "Infinity"].map(percent.parse)).toEqual(Array(6).fill(undefined));
  });
});

describe("yesOrNo, oneOf and text", () => {
  it("read true and false in upstream's spellings", () => {
    expect(["true", "TRUE", "1", "False", "0"].map(yesOrNo.parse)).toEqual([true, true, true, false, false]);
    expect(["yes", "", "constructor"].map(yesOrNo.parse)).toEqual([undefined, undefined, undefined]);
  });

  it("accept only the listed words, in the same case", () => {
    expect(["daemon", "Daemon", ""].map(oneOf("daemon", "systemd").parse)).toEqual(["daemon", undefined, undefined]);
  });

  it("refuse the empty text", () => {
    expect(["a b", ""].map(text("NAME").parse)).toEqual(["a b", undefined]);
  });
});
