// SPDX-License-Identifier: Apache-2.0
/**
 * Implements PfRecords on the disk of the fake kernel, which survives the daemon. Records are formatted and parsed as files.
 * Usage: `const records = createFakeRecords()`.
 */
import type { PciAddress } from "@switchyard/api";
import { formatPfRecord, parsePfRecord } from "../linux/pf-record-file.ts";
import type { PfRecord, PfRecords } from "../ports/pf-records.ts";
import { answer } from "./refusal.ts";

export function createFakeRecords(): PfRecords {
  const files = new Map<PciAddress, string>();

  return {
    list: () =>
      answer(() => {
        const records = new Map<PciAddress, PfRecord>();
        for (const [pf, text] of files) {
          const record = parsePfRecord(text);
          if (record.ok) records.set(pf, record.value);
        }
        return records;
      }),
    save: (pf, record) =>
      answer(() => {
        files.set(pf, formatPfRecord(record));
      }),
    remove: (pf) =>
      answer(() => {
        files.delete(pf);
      }),
  };
}
