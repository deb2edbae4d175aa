// SPDX-License-Identifier: Apache-2.0
/**
 * Files of the OVN offload on a host. A MachineConfig contains them, or the config daemon writes them.
 * Usage: `for (const { path, mode, text } of ovnOffloadFiles()) await files.writeText(path, text, { mode });`
 */

/** A file on a host. */
export interface OffloadFile {
  /** Absolute. */
  readonly path: string;
  /** Permissions: 0o644, or 0o755 for scripts. */
  readonly mode: number;
  readonly text: string;
}

/** A systemd unit, or drop-ins of a unit that belongs to others. */
export interface OffloadUnit {
  readonly name: string;
  /** True for own units, which have an [Install] section. Absent for units of others. */
  readonly enabled?: true;
  /** Complete text of an own unit. */
  readonly contents?: string;
  readonly dropins?: readonly OffloadDropIn[];
}

/** A file NAME in /etc/systemd/system/UNIT.d. */
export interface OffloadDropIn {
  readonly name: string;
  readonly contents: string;
}

/** First line of each file, drop-in and unit, except that a script has it as its second line. It identifies the owner. */
export const ownFileHeader = "# Written by Switchyard for OVN on the SmartNIC. Changes are overwritten.";

/** Reports whether Switchyard wrote a file, drop-in or unit of the OVN offload. */
export function isOwnOffloadFile(text: string): boolean {
  return text.split("\n", 2).includes(ownFileHeader);
}
