// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { cniCode } from "./cni-error.ts";
import { defaultSettings, defaultTimeouts, parseTimeouts, readSettings } from "./settings.ts";

function settingsFrom(text: string) {
  const file = join(mkdtempSync(join(tmpdir(), "eve-bridge-")), "settings.json");
  writeFileSync(file, text);
  return readSettings({ EVE_BRIDGE_CONFIG: file });
}

describe("readSettings", () => {
  it("lets the file override single defaults", () => {
    expect(settingsFrom('{"rpcSocket":"/x","logMaxBytes":7}')).toEqual({
      ...defaultSettings,
      rpcSocket: "/x",
      logMaxBytes: 7,
    });
  });

  it.each([
    "{",
    "[]",
    '{"rpcSocket":"relative"}',
    '{"rpcSocket":1}',
    '{"logMaxBytes":0}',
    '{"logMaxBytes":1.5}',
    '{"rpcSockets":"/x"}',
  ])("refuses %s with code 7", (text) => {
    expect(() => settingsFrom(text)).toThrow(expect.objectContaining({ code: cniCode.invalidConfig }));
  });

  it("refuses a file that the environment names and that does not exist", () => {
    expect(() => readSettings({ EVE_BRIDGE_CONFIG: "/nowhere/settings.json" })).toThrow(
      "cannot read the settings in /nowhere",
    );
  });
});

describe("parseTimeouts", () => {
  it("has defaults below two minutes", () => {
    const { total, undo } = parseTimeouts({});
    expect(total).toBeLessThan(120_000);
    expect(undo).toBeLessThan(total);
  });

  it("reserves a quarter of a configured total for undoing", () => {
    expect(parseTimeouts({ eveBridge: { timeoutMs: { total: 4000 } } })).toEqual({
      ...defaultTimeouts,
      total: 4000,
      undo: 1000,
    });
  });

  it.each([
    { eveBridge: 1 },
    { eveBridge: { timeoutMs: [] } },
    { eveBridge: { timeoutMs: { dial: 0 } } },
    { eveBridge: { timeoutMs: { dial: "5" } } },
    { eveBridge: { timeoutMs: { dial: 1.5 } } },
    { eveBridge: { timeoutMs: { dial: null } } },
    { eveBridge: { timeoutMs: { rpc: 1e12 } } },
    { eveBridge: { timeoutMs: { typo: 5 } } },
    { eveBridge: { logFile: "/etc/passwd" } },
    { eveBridge: { timeoutMs: { total: 10, undo: 10 } } },
  ])("refuses %j with code 7", (conf) => {
    expect(() => parseTimeouts(conf)).toThrow(expect.objectContaining({ code: cniCode.invalidConfig }));
  });
});
