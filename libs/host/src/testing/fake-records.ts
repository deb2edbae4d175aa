// SPDX-License-Identifier: Apache-2.0
/**
 * Implements PfRecords and AfxdpRecords on the disk of the fake kernel, which survives the daemon. Records are formatted and parsed as files.
 */
import type { PciAddress } from "@switchyard/api";
import { formatAfxdpRecord, parseAfxdpDevice, parseAfxdpRecord } from "../linux/records/afxdp-record-file.ts";
import { formatPfRecord, parsePfRecord } from "../linux/records/pf-record-file.ts";
import type { AfxdpRecord, AfxdpRecords, PfRecord, PfRecords } from "../ports/records.ts";
import { answer, Refusal } from "./faults.ts";

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

/** As createFakeRecords, for AF_XDP devices. */
export function createFakeAfxdpRecords(): AfxdpRecords {
  const files = new Map<string, string>();
  const checked = (device: string) => {
    if (parseAfxdpDevice(device) === undefined) throw new Refusal("EINVAL");
    return device;
  };

  return {
    list: () =>
      answer(() => {
        const records = new Map<string, AfxdpRecord>();
        for (const [device, text] of files) {
          const record = parseAfxdpRecord(text);
          if (record.ok) records.set(device, record.value);
        }
        return records;
      }),
    save: (device, record) => answer(() => void files.set(checked(device), formatAfxdpRecord(record))),
    remove: (device) => answer(() => void files.delete(checked(device))),
  };
}
