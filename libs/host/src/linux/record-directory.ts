// SPDX-License-Identifier: Apache-2.0
/**
 * createRecordDirectory keeps records in files, one for each device and named after it.
 * Usage: `const records = createRecordDirectory("/etc/sriov-operator/pci", { parseName, parse: parsePfRecord, onUnreadable })`.
 */
import { promises as fs } from "node:fs";
import { join } from "node:path";
import type { Result } from "@switchyard/api";
import { isErrno } from "@switchyard/service";
import type { RecordProblem } from "./record-json.ts";
import { readTextFile } from "./read-text-file.ts";
import { replaceFile } from "./replace-file.ts";
import { syncDirectory } from "./sync-directory.ts";

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
      await fs.mkdir(directory, { recursive: true });
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
