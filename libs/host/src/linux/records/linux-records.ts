// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxPfRecords implements PfRecords with the files in /etc/sriov-operator/pci, as upstream does (sriov-operator.md F.7).
 * Usage: `createLinuxPfRecords("/host", { onUnreadable: (file) => log.warn({ ...file }, "file is not a PF record") })`.
 */
import { parsePciAddress, type PciAddress } from "@switchyard/api";
import { join } from "node:path";
import { HostError, withHostError, type HostOperation } from "../../calls/host-error.ts";
import { operations } from "../../calls/operations.ts";
import type { AfxdpRecords, PfRecord, PfRecords } from "../../ports/records.ts";
import { formatAfxdpRecord, isAfxdpRecordOf, parseAfxdpDevice, parseAfxdpRecord } from "./afxdp-record-file.ts";
import { formatPfRecord, parsePfRecord } from "./pf-record-file.ts";
import { hostPaths, namingSetting } from "../system/host-paths.ts";
import { createRecordDirectory, type UnreadableRecord } from "./record-directory.ts";

/** Directories of the records on the host. */
const [pfDirectory, afxdpDirectory] = ["/etc/sriov-operator/pci", "/etc/sriov-operator/afxdp"] as const;

export interface LinuxPfRecordsOptions {
  /** Called for each such file whenever the records are listed. */
  readonly onUnreadable: (file: UnreadableRecord) => void;
  /** /etc/sriov-operator by default. */
  readonly stateDirectory?: string | undefined;
}

/** `root` is "/" or "/host". */
export function createLinuxPfRecords(root: string, options: LinuxPfRecordsOptions): PfRecords {
  const { onUnreadable, stateDirectory } = options;
  const { records: at } = operations;
  const directory = hostPaths(stateDirectory)(pfDirectory);
  const files = createRecordDirectory<PciAddress, PfRecord>(join(root, directory), {
    parseName(name) {
      const pf = parsePciAddress(name);
      return pf.ok ? pf.value : undefined;
    },
    parse: parsePfRecord,
    isOf: ({ spec }, pf) => spec.pciAddress === pf,
    onUnreadable,
  });
  return {
    list: () => withHostError(at.list(), () => files.list(), directory),
    save: (pf, record) =>
      written(at.save(pf, record), () => files.save(pf, formatPfRecord(record)), join(directory, pf)),
    remove: (pf) => written(at.remove(pf), () => files.remove(pf), join(directory, pf)),
  };
}

interface LinuxAfxdpRecordsOptions {
  /** Called for each file that is not a record whenever the records are listed. */
  readonly onUnreadable: (file: UnreadableRecord) => void;
  /** /etc/sriov-operator by default. */
  readonly stateDirectory?: string | undefined;
}

/** createLinuxAfxdpRecords implements AfxdpRecords with the files in /etc/sriov-operator/afxdp. `root` is "/" or "/host". */
export function createLinuxAfxdpRecords(root: string, options: LinuxAfxdpRecordsOptions): AfxdpRecords {
  const { onUnreadable, stateDirectory } = options;
  const { afxdpRecords: at } = operations;
  const directory = hostPaths(stateDirectory)(afxdpDirectory);
  const files = createRecordDirectory(join(root, directory), {
    parseName: parseAfxdpDevice,
    parse: parseAfxdpRecord,
    isOf: isAfxdpRecordOf,
    onUnreadable,
  });
  return {
    list: () => withHostError(at.list(), () => files.list(), directory),
    async save(device, record) {
      const name = checkAfxdpDevice(device, at.save(device, record));
      const save = () => files.save(name, formatAfxdpRecord(record));
      await written(at.save(device, record), save, join(directory, name));
    },
    async remove(device) {
      const name = checkAfxdpDevice(device, at.remove(device));
      await written(at.remove(device), () => files.remove(name), join(directory, name));
    },
  };
}

/** Rejects with HostError, which names the setting of the directory if the file system is read-only. */
async function written(at: HostOperation, act: () => Promise<void>, file: string): Promise<void> {
  try {
    await withHostError(at, act, file);
  } catch (error) {
    throw namingSetting(error, file);
  }
}

/** Returns the device. Throws HostError EINVAL if it cannot be the name of a file. */
function checkAfxdpDevice(device: string, at: HostOperation): string {
  const checked = parseAfxdpDevice(device);
  if (checked === undefined) throw new HostError({ ...at, target: JSON.stringify(device.slice(0, 64)) }, "EINVAL", {});
  return checked;
}
