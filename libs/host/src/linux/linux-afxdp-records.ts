// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxAfxdpRecords implements AfxdpRecords with the files in /etc/sriov-operator/afxdp.
 * Usage: `createLinuxAfxdpRecords("/host", { onUnreadable: (file) => log.warn({ ...file }, "file is not a record") })`.
 */
import { join } from "node:path";
import { HostError, withHostError, type HostOperation } from "../calls/host-error.ts";
import { operations } from "../calls/operations.ts";
import type { AfxdpRecords } from "../ports/afxdp-records.ts";
import { formatAfxdpRecord, isAfxdpRecordOf, parseAfxdpDevice, parseAfxdpRecord } from "./afxdp-record-file.ts";
import { createRecordDirectory, type UnreadableRecord } from "./record-directory.ts";

export interface LinuxAfxdpRecordsOptions {
  /** Called for each file that is not a record whenever the records are listed. */
  readonly onUnreadable: (file: UnreadableRecord) => void;
}

/** `root` is "/" or "/host". */
export function createLinuxAfxdpRecords(root: string, { onUnreadable }: LinuxAfxdpRecordsOptions): AfxdpRecords {
  const { afxdpRecords: at } = operations;
  const files = createRecordDirectory(join(root, "etc/sriov-operator/afxdp"), {
    parseName: parseAfxdpDevice,
    parse: parseAfxdpRecord,
    isOf: isAfxdpRecordOf,
    onUnreadable,
  });
  return {
    list: () => withHostError(at.list(), () => files.list()),
    save: (device, record) =>
      withHostError(at.save(device, record), () =>
        files.save(checkAfxdpDevice(device, at.save(device, record)), formatAfxdpRecord(record)),
      ),
    remove: (device) =>
      withHostError(at.remove(device), () => files.remove(checkAfxdpDevice(device, at.remove(device)))),
  };
}

/** Returns the device. Throws HostError EINVAL if it cannot be the name of a file. */
function checkAfxdpDevice(device: string, at: HostOperation): string {
  const checked = parseAfxdpDevice(device);
  if (checked === undefined) throw new HostError({ ...at, target: JSON.stringify(device.slice(0, 64)) }, "EINVAL", {});
  return checked;
}
