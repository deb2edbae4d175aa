// SPDX-License-Identifier: Apache-2.0
/**
 * createRecordDirectory keeps records in files, one for each device and named after it.
 * Usage: `const records = createRecordDirectory("/etc/sriov-operator/pci", { parseName, parse: parsePfRecord, onUnreadable })`.
 */
import { err, ok, parseLimitedJson, type Result } from "@switchyard/api";
import { isErrno, makeDirectory } from "@switchyard/service";
import { promises as fs } from "node:fs";
import { join } from "node:path";
import { readTextFile, replaceFile, syncDirectory } from "../system/text-files.ts";

/** A file that is not the record of the device in its name. It is not changed. */
export interface UnreadableRecord {
  readonly path: string;
  /** Problem of the content, or name of the errno if the file cannot be read. */
  readonly reason: RecordProblem["code"] | (string & {});
}

/** What distinguishes one kind of records from another. */
export interface RecordKind<Name extends string, Value> {
  /** Returns the name of a device, or undefined for the name of another file. */
  readonly parseName: (name: string) => Name | undefined;
  /** Parses the text of a file. */
  readonly parse: (text: string) => Result<Value, RecordProblem>;
  /** Reports whether the record is that of the device. */
  readonly isOf: (record: Value, name: Name) => boolean;
  /** Called for each file that is not a record whenever the records are listed. */
  readonly onUnreadable: (file: UnreadableRecord) => void;
}

/** The files of one directory. Rejects with errors of system calls. */
export interface RecordDirectory<Name extends string, Value> {
  list(): Promise<ReadonlyMap<Name, Value>>;
  save(name: Name, text: string): Promise<void>;
  remove(name: Name): Promise<void>;
}

export function createRecordDirectory<Name extends string, Value>(
  directory: string,
  { parseName, parse, isOf, onUnreadable }: RecordKind<Name, Value>,
): RecordDirectory<Name, Value> {
  async function readRecord(name: Name): Promise<Value | undefined> {
    const path = join(directory, name);
    try {
      const text = await readTextFile(path);
      const record = text === undefined ? undefined : parse(text);
      if (record?.ok === true && isOf(record.value, name)) return record.value;
      onUnreadable({ path, reason: record?.ok === false ? record.error.code : "not-a-record" });
    } catch (error) {
      if (!isErrno(error)) throw error;
      if (error.code !== "ENOENT") onUnreadable({ path, reason: error.code });
    }
    return undefined;
  }

  return {
    async list() {
      const records = new Map<Name, Value>();
      for (const file of await readNames(directory)) {
        const name = parseName(file);
        const record = name === undefined ? undefined : await readRecord(name);
        if (name !== undefined && record !== undefined) records.set(name, record);
      }
      return records;
    },
    async save(name, text) {
      await makeDirectory(directory);
      await replaceFile(join(directory, name), text);
    },
    async remove(name) {
      await fs.rm(join(directory, name), { force: true });
      await syncDirectory(directory);
    },
  };
}

async function readNames(directory: string): Promise<readonly string[]> {
  try {
    return (await fs.readdir(directory)).sort();
  } catch (error) {
    if (isErrno(error, "ENOENT")) return []; // nothing was ever recorded
    throw error;
  }
}

/**
 * Parses and checks the JSON of records.
 * Why a text is not a record: it is not JSON, or the JSON is not that of a record.
 */
export interface RecordProblem {
  readonly code: "not-json" | "not-a-record";
}

export type Fields = Readonly<Record<string, unknown>>;

export function parseJson(text: string): Result<unknown, RecordProblem> {
  try {
    const value = parseLimitedJson(text);
    return ok(value);
  } catch {
    return err({ code: "not-json" });
  }
}

/** Reports whether the value is an object with fields. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type FieldType = "string" | "number" | "boolean";

/** Reports whether the value has this type. JSON has numbers such as 1e400, which are read as Infinity and written as null. */
export function isOfType(value: unknown, type: FieldType): boolean {
  return typeof value === type && (typeof value !== "number" || Number.isFinite(value));
}

/** Reports whether each of `keys` is absent or has this type. */
export function have(value: Fields, type: FieldType, keys: readonly string[]): boolean {
  return keys.every((key) => value[key] === undefined || isOfType(value[key], type));
}

/** Reports whether the value is absent or a list of values of this type. */
export function isListOf(value: unknown, type: "string" | "number"): boolean {
  return value === undefined || (Array.isArray(value) && value.every((one) => isOfType(one, type)));
}
