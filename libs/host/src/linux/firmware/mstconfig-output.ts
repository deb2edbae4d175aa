// SPDX-License-Identifier: Apache-2.0
/**
 * Parses the output of `mstconfig -e -d ADDRESS query` (smartnic.md 7.3; mstflint 4.15 to 4.31). The columns are taken from
 * the header line, because a firmware that does not report current values has only one of them. Widths differ between
 * versions, so rows are split at blanks.
 */
import { defined } from "@switchyard/api";
import type { FirmwareSetting } from "../../ports/firmware.ts";

/** One device of a query. A query without -d has all devices of the machine. */
export interface MstconfigDevice {
  /** Value of the line "Device:": a PCI address or a file below /dev/mst; "" if there is no such line. */
  readonly device: string;
  /** Value of the line "Device type:": "ConnectX5". */
  readonly type: string;
  readonly settings: ReadonlyMap<string, FirmwareSetting>;
}

/** Returns the devices that have a table of settings. Lines that are not understood are left out. */
export function parseMstconfigQuery(text: string): readonly MstconfigDevice[] {
  const devices: MstconfigDevice[] = [];
  let heading = { device: "", type: "" };
  let columns: readonly Column[] | undefined;
  let settings = new Map<string, FirmwareSetting>();
  for (const line of text.split(/\r?\n/)) {
    const header = /^Configurations:\s+(.*)$/.exec(line)?.[1];
    if (/^Device #\d+:/.test(line)) {
      heading = { device: "", type: "" };
      columns = undefined;
    } else if (header !== undefined) {
      columns = columnsOf(header);
      settings = new Map();
      if (columns !== undefined) devices.push({ ...heading, settings });
    } else if (columns === undefined) {
      const [, key, text = ""] = /^(Device type|Device):\s+(\S.*)$/.exec(line) ?? [];
      const value = text.trimEnd();
      if (key !== undefined) heading = key === "Device" ? { ...heading, device: value } : { ...heading, type: value };
    } else {
      const row = rowOf(line, columns);
      // mstconfig prints a name once. If it does not, the first row counts.
      if (row !== undefined && !settings.has(row.name)) settings.set(row.name, row.setting);
    }
  }
  return devices;
}

type Column = "default" | "current" | "next";

const columnTitles: Readonly<Record<string, Column>> = { Default: "default", Current: "current", "Next Boot": "next" };

/** Returns undefined if a title is unknown, as in the output of "set", which has a column "New". */
function columnsOf(header: string): readonly Column[] | undefined {
  const titles = header.trim().split(/\s{2,}/);
  const columns = titles.map((title) => (Object.hasOwn(columnTitles, title) ? columnTitles[title] : undefined));
  return columns.every((column) => column !== undefined) ? columns : undefined;
}

/** A row has a "*" if a value differs from the next one, "RO" if it is read-only, a name, and a value in each column. */
function rowOf(
  line: string,
  columns: readonly Column[],
): { readonly name: string; readonly setting: FirmwareSetting } | undefined {
  const fields = /^(?:\*|\s)/.test(line) ? line.slice(1).trim().split(/\s+/) : [];
  const [name, ...values] = fields[0] === "RO" ? fields.slice(1) : fields;
  if (name === undefined || name === "" || values.length !== columns.length) return undefined;
  const numbers = new Map(columns.map((column, index) => [column, toNumber(values[index] ?? "")]));
  const setting = defined({
    default: numbers.get("default"),
    current: numbers.get("current"),
    next: numbers.get("next"),
  });
  return { name, setting };
}

/**
 * Returns the number of "True(1)", "8" or "0x10"; undefined for "N/A", "Array[0..7]" and text. The text before the
 * parentheses differs between versions ("SEPERATED_HOST(0)" until 4.17), so only the number counts.
 */
function toNumber(value: string): number | undefined {
  const digits = /^(?:[^()]*\()?(\d{1,10}|0x[0-9a-fA-F]{1,8})\)?$/.exec(value)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
