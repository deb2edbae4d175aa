// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxPfRecords implements PfRecords with the files in /etc/sriov-operator/pci, as upstream does (sriov-operator.md F.7).
 * Usage: `createLinuxPfRecords("/host", { onUnreadable: (file) => log.warn({ ...file }, "file is not a PF record") })`.
 */
import { join } from "node:path";
import { parsePciAddress, type PciAddress } from "@switchyard/api";
import { withHostError } from "../calls/host-error.ts";
import { operations } from "../calls/operations.ts";
import type { PfRecord, PfRecords } from "../ports/pf-records.ts";
import { formatPfRecord, parsePfRecord } from "./pf-record-file.ts";
import { createRecordDirectory, type UnreadableRecord } from "./record-directory.ts";

export interface LinuxPfRecordsOptions {
  /** Called for each such file whenever the records are listed. */
  readonly onUnreadable: (file: UnreadableRecord) => void;
}

/** `root` is "/" or "/host". */
export function createLinuxPfRecords(root: string, { onUnreadable }: LinuxPfRecordsOptions): PfRecords {
  const { records: at } = operations;
  const files = createRecordDirectory<PciAddress, PfRecord>(join(root, "etc/sriov-operator/pci"), {
    parseName(name) {
      const pf = parsePciAddress(name);
      return pf.ok ? pf.value : undefined;
    },
    parse: parsePfRecord,
    isOf: ({ spec }, pf) => spec.pciAddress === pf,
    onUnreadable,
  });
  return {
    list: () => withHostError(at.list(), () => files.list()),
    save: (pf, record) => withHostError(at.save(pf, record), () => files.save(pf, formatPfRecord(record))),
    remove: (pf) => withHostError(at.remove(pf), () => files.remove(pf)),
  };
}
