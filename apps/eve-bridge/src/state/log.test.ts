// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { openLog } from "./log.ts";
import { defaultSettings, type Settings } from "../request/settings.ts";
import { createScratch, type Scratch } from "../testing/scratch.ts";

function settingsIn(scratch: Scratch, logMaxBytes = 1_000_000): Settings {
  return {
    ...defaultSettings,
    logFile: scratch.path("log", "eve-bridge.log"),
    stateDir: scratch.path("state"),
    logMaxBytes,
  };
}

function linesOf(file: string): Record<string, unknown>[] {
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("openLog", () => {
  it("writes one JSON object per line, with the fields of the call", () => {
    using scratch = createScratch();
    const settings = settingsIn(scratch);
    const log = openLog(settings, { command: "ADD" });
    log.info("start");
    log.error("failed", { code: 11 });
    expect(linesOf(settings.logFile)).toMatchObject([
      { level: "info", message: "start", command: "ADD", pid: process.pid },
      { level: "error", message: "failed", command: "ADD", code: 11 },
    ]);
  });

  it("appends to the lines of other calls", () => {
    using scratch = createScratch();
    const settings = settingsIn(scratch);
    openLog(settings, { n: 1 }).info("a");
    openLog(settings, { n: 2 }).info("a");
    expect(linesOf(settings.logFile).map(({ n }) => n)).toEqual([1, 2]);
  });

  it("creates its directory, but not the parents, because /persist exists only when it is mounted", () => {
    using scratch = createScratch();
    const logFile = scratch.path("persist", "kubelog", "log");
    openLog({ ...settingsIn(scratch), logFile }, {}).info("start");
    expect(existsSync(scratch.path("persist"))).toBe(false);
  });

  it.each(["/proc/nowhere/log", "/dev/full", "/dev"])("ignores that %s cannot be written", (logFile) => {
    using scratch = createScratch();
    const log = openLog({ ...settingsIn(scratch), logFile }, {});
    expect(() => {
      log.info("start");
      log.error("again");
    }).not.toThrow();
  });

  it("keeps the log and three rotated files below the maximum size", () => {
    using scratch = createScratch();
    const settings = settingsIn(scratch, 500);
    for (let i = 0; i < 60; i++) openLog(settings, { i }).info("x".repeat(50));
    for (const name of ["", ".1", ".2", ".3"]) {
      // A line that begins below the limit may end above it.
      expect(statSync(`${settings.logFile}${name}`).size).toBeLessThan(500 + 200);
    }
    expect(existsSync(`${settings.logFile}.4`)).toBe(false);
    const kept = [".3", ".2", ".1", ""].flatMap((name) => linesOf(`${settings.logFile}${name}`).map(({ i }) => i));
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, i) => 60 - kept.length + i));
  });

  it("writes nothing if a full log cannot be rotated", () => {
    using scratch = createScratch();
    const settings = { ...settingsIn(scratch, 10), stateDir: "/proc/nowhere" };
    openLog(settings, {}).info("first");
    const { size } = statSync(settings.logFile);
    openLog(settings, {}).info("second");
    expect(statSync(settings.logFile).size).toBe(size);
    writeFileSync(settings.logFile, "");
    openLog(settings, {}).info("third");
    expect(linesOf(settings.logFile)).toHaveLength(1);
  });
});
