// SPDX-License-Identifier: Apache-2.0
/**
 * PfRecords as files under /etc/sriov-operator/pci, where upstream has them (sriov-operator.md F.7).
 * Usage: `createLinuxPfRecords("/host", { onUnreadable: ({ path }) => log.warn(...) })`.
 */
import { promises as fs } from "node:fs";
import { dirname, join } from "node:path";
import { parsePciAddress, type PciAddress } from "@switchyard/api";
import { attempts } from "../calls/operations.ts";
import { isErrno, toHostError, type HostError } from "../calls/host-error.ts";
import { formatPfRecord, parsePfRecord, type PfRecordProblem } from "./pf-record-file.ts";
import type { PfRecord, PfRecords } from "../ports/pf-records.ts";
import { syncDirectory } from "./sync-directory.ts";

/** A file in the place of a record that is none, or is another PF's. It stays as it is. */
export interface UnreadableRecord {
  readonly path: string;
  /** Or the errno's name. */
  readonly reason: PfRecordProblem["code"] | (string & {});
}

export interface LinuxPfRecordsOptions {
  /** Told of each such file, each time that the records are listed. */
  readonly onUnreadable: (file: UnreadableRecord) => void;
}

/** PfRecords in the tree at `root`: "/" or "/host". */
export function createLinuxPfRecords(root: string, { onUnreadable }: LinuxPfRecordsOptions): PfRecords {
  const directory = join(root, "etc/sriov-operator/pci");
  const { records: attempt } = attempts;

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
      told(attempt.list(), async () => {
        const records = new Map<PciAddress, PfRecord>();
        for (const name of await readNames(directory)) {
          const pf = parsePciAddress(name);
          const record = pf.ok ? await readRecord(pf.value) : undefined;
          if (pf.ok && record) records.set(pf.value, record);
        }
        return records;
      }),
    save: (pf, record) =>
      told(attempt.save(pf, record), async () => {
        await fs.mkdir(directory, { recursive: true });
        await replaceFile(join(directory, pf), formatPfRecord(record));
      }),
    remove: (pf) =>
      told(attempt.remove(pf), async () => {
        await fs.rm(join(directory, pf), { force: true });
        await syncDirectory(directory);
      }),
  };
}

async function told<Value>(at: HostError["at"], act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (error) {
    throw toHostError(at, error);
  }
}

/** After a crash at any moment the file has its old text or its new one. */
async function replaceFile(path: string, text: string): Promise<void> {
  const beside = join(dirname(path), `.${path.slice(dirname(path).length + 1)}.new`);
  try {
    const file = await fs.open(beside, "w", 0o644);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await fs.rename(beside, path);
  } catch (error) {
    await fs.rm(beside, { force: true }).catch(() => undefined); // the first error is the one to tell
    throw error;
  }
  await syncDirectory(dirname(path));
}

async function readNames(directory: string): Promise<readonly string[]> {
  try {
    return (await fs.readdir(directory)).sort();
  } catch (error) {
    if (isErrno(error) && error.code === "ENOENT") return []; // nothing was ever recorded
    throw error;
  }
}
