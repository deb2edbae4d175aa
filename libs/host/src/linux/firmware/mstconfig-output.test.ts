// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { readFileSync } from "node:fs";
import { parseMstconfigQuery } from "./mstconfig-output.ts";

const connectx5 = readFileSync(new URL("../testdata/mstconfig-connectx5.txt", import.meta.url), "utf8");

const heading = [
  "",
  "Device #1:",
  "----------",
  "",
  "Device type:    BlueField2      ",
  "Device:         0000:3b:00.0    ",
  "",
];

/** A table with one device, in the layout of mstconfig. */
function table(header: string, ...rows: readonly string[]): string {
  return [...heading, header, ...rows, ""].join("\n");
}

const threeColumns = "Configurations:                              Default         Current         Next Boot";

function settingOf(text: string, name: string) {
  return parseMstconfigQuery(text)[0]?.settings.get(name);
}

describe("parseMstconfigQuery", () => {
  it("reads default, current and next value of each setting", () => {
    const [device, ...others] = parseMstconfigQuery(connectx5);
    expect(others).toEqual([]);
    expect([device?.type, device?.device]).toEqual(["ConnectX5", "0000:3b:00.0"]);
    expect(device?.settings.get("NUM_OF_VFS")).toEqual({ default: 0, current: 8, next: 16 });
    expect(device?.settings.get("SRIOV_EN")).toEqual({ default: 0, current: 1, next: 1 });
    expect(device?.settings.get("LINK_TYPE_P2")).toEqual({ default: 1, current: 2, next: 1 });
  });

  it("takes a name only as a whole", () => {
    const text = table(
      threeColumns,
      "         BOOT_NUM_OF_VFS                     1               1               1               ",
      "         NUM_OF_VFS_MAX                      2               2               2               ",
    );
    expect(settingOf(text, "NUM_OF_VFS")).toBeUndefined();
  });

  it("reads a single column as the next value", () => {
    const text = table(
      "Configurations:                              Next Boot",
      "         INTERNAL_CPU_MODEL                  EMBEDDED_CPU(1) ",
    );
    expect(settingOf(text, "INTERNAL_CPU_MODEL")).toEqual({ next: 1 });
  });

  it("takes the number of a value, whatever its text and width", () => {
    const text = table(
      threeColumns,
      "*        INTERNAL_CPU_MODEL                  EMBEDDED_CPU(1) SEPERATED_HOST(0)  EMBEDDED_CPU(1) ",
      "* RO     WIDE_NAME_OF_A_NEWER_VERSION_OF_MSTFLINT_X  True(1)         False(0)        0x10            ",
    );
    expect(settingOf(text, "INTERNAL_CPU_MODEL")).toEqual({ default: 1, current: 0, next: 1 });
    expect(settingOf(text, "WIDE_NAME_OF_A_NEWER_VERSION_OF_MSTFLINT_X")).toEqual({ default: 1, current: 0, next: 16 });
  });

  it("reads a read-only setting, and no number from N/A and from an array", () => {
    expect(settingOf(connectx5, "SAFE_MODE_THRESHOLD")).toEqual({ default: 10, current: 10, next: 10 });
    expect(settingOf(connectx5, "MKEY_BY_NAME_RANGE")).toEqual({});
    expect(settingOf(connectx5, "HOST_CHAINING_MODE")).toEqual({});
  });

  it("keeps the settings of several devices apart", () => {
    const second = connectx5.replaceAll("0000:3b:00.0", "0000:5e:00.0").replaceAll("#1", "#2").replaceAll("16 ", "32 ");
    const devices = parseMstconfigQuery(connectx5 + second);
    expect(devices.map(({ device, settings }) => [device, settings.get("NUM_OF_VFS")?.next])).toEqual([
      ["0000:3b:00.0", 16],
      ["0000:5e:00.0", 32],
    ]);
  });

  it.each([
    { does: "an error", text: "-E- Failed to open the device\n" },
    {
      does: "the table of a change",
      text: table(`${threeColumns}       New`, "         SRIOV_EN  True(1) True(1) True(1) True(1)"),
    },
    { does: "an unknown column", text: table("Configurations:      Factory", "         SRIOV_EN        True(1)") },
  ])("finds no device in $does", ({ text }) => {
    expect(parseMstconfigQuery(text)).toEqual([]);
  });

  it("leaves out rows that do not have a value in each column", () => {
    const text = table(threeColumns, "         NUM_OF_VFS   8  16", "         ", "NUM_OF_VFS 1 2 3");
    expect(settingOf(text, "NUM_OF_VFS")).toBeUndefined();
  });

  it("finds whole numbers or nothing in any text, and never throws", () => {
    const line = fc.oneof(
      fc.constantFrom(...connectx5.split("\n"), threeColumns, ...heading),
      fc.string(),
      fc.stringMatching(/^[* ][RO ]{0,8}[A-Z_]{1,12} +[\w()[\].]{1,20}( +[\w()[\].]{1,20}){0,3}$/),
    );
    const holds = fc.property(fc.array(line), (lines) => {
      for (const { settings } of parseMstconfigQuery(lines.join("\n"))) {
        for (const [name, setting] of settings) {
          expect(name).toMatch(/^\S+$/);
          for (const value of Object.values(setting)) expect(Number.isSafeInteger(value)).toBe(true);
        }
      }
    });
    fc.assert(holds);
  });

  it("reads back any table that is printed in the layout of mstconfig", () => {
    const value = fc.oneof(
      fc.nat(65_535).map((number) => ({ number, text: `${number}` })),
      fc.nat(9).map((number) => ({ number, text: `SOME_LONG_VALUE_TEXT(${number})` })),
    );
    const row = fc.tuple(fc.stringMatching(/^[A-Z][A-Z0-9_]{2,40}$/), value, value, value);
    const rows = fc.uniqueArray(row, { selector: ([name]) => name });
    const agrees = fc.property(rows, fc.constantFrom(36, 48), (wanted, width) => {
      const lines = wanted.map(([name, ...values]) => {
        const cells = values.map(({ text }) => text.padEnd(16) + (text.length > 16 ? " " : ""));
        return `         ${name.padEnd(width)} ${cells.join("")}`;
      });
      const settings = parseMstconfigQuery(table(threeColumns, ...lines))[0]?.settings;
      expect([...(settings ?? [])]).toEqual(
        wanted.map(([name, first, current, next]) => [
          name,
          { default: first.number, current: current.number, next: next.number },
        ]),
      );
    });
    fc.assert(agrees);
  });
});
