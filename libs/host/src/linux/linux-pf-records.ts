// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxPfRecords implements PfRecords with the files in /etc/sriov-operator/pci, as upstream does (sriov-operator.md F.7).
 * Usage: `createLinuxPfRecords("/host", { onUnreadable: (file) => log.warn({ ...file }, "file is not a PF record") })`.
 */
import { promises as fs } from "node:fs";
import { join } from "node:path";
import { parsePciAddress, type PciAddress } from "@switchyard/api";
import { operations } from "../calls/operations.ts";
import { isErrno } from "@switchyard/service";
import { withHostError } from "../calls/host-error.ts";
import { formatPfRecord, parsePfRecord, type PfRecordProblem } from "./pf-record-file.ts";
import type { PfRecord, PfRecords } from "../ports/pf-records.ts";
import { replaceFile } from "./replace-file.ts";
import { syncDirectory } from "./sync-directory.ts";

/** A file that is not the record of the PF in its name. It is not changed. */
export interface UnreadableRecord {
  readonly path: string;
  /** Problem of the content, or name of the errno if the file cannot be read. */
  readonly reason: PfRecordProblem["code"] | (string & {});
}

export interface LinuxPfRecordsOptions {
  /** Called for each such file whenever the records are listed. */
  readonly onUnreadable: (file: UnreadableRecord) => void;
}

/** `root` is "/" or "/host". */
export function createLinuxPfRecords(root: string, { onUnreadable }: LinuxPfRecordsOptions): PfRecords {
  const directory = join(root, "etc/sriov-operator/pci");
  const { records: operation } = operations;

  async function readRecord(pf: PciAddress): Promise<PfRecord | undefined> {
    const path = join(directory, pf);
    try {
      const record = parsePfRecord(await fs.readFile(path, "utf8"));
      if (record.ok && record.value.spec.pciAddress === pf) return record.value;
      onUnreadable({ path, reason: record.ok ? "not-a-record" : record.error.code });
    } catch (error) {
      if (!isErrno(error)) throw error;
      if (error.code !== "ENOENT") onUnreadable({ path, reason: error.code });
    }
    return undefined;
  }

  return {
    list: () =>
      withHostError(operation.list(), async () => {
        const records = new Map<PciAddress, PfRecord>();
        for (const name of await readNames(directory)) {
          const pf = parsePciAddress(name);
          const record = pf.ok ? await readRecord(pf.value) : undefined;
          if (pf.ok && record) records.set(pf.value, record);
        }
        return records;
      }),
    save: (pf, record) =>
      withHostError(operation.save(pf, record), async () => {
        await fs.mkdir(directory, { recursive: true });
        await replaceFile(join(directory, pf), formatPfRecord(record));
      }),
    remove: (pf) =>
      withHostError(operation.remove(pf), async () => {
        await fs.rm(join(directory, pf), { force: true });
        await syncDirectory(directory);
      }),
  };
}

async function readNames(directory: string): Promise<readonly string[]> {
  try {
    return (await fs.readdir(directory)).sort();
  } catch (error) {
    if (isErrno(error, "ENOENT")) return []; // no PF was ever recorded
    throw error;
  }
}
