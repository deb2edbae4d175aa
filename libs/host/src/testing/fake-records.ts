// SPDX-License-Identifier: Apache-2.0
/**
 * PfRecords on the fake kernel's disk, which outlives the daemon. Records go through the text of their files.
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
