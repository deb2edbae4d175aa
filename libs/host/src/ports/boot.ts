// SPDX-License-Identifier: Apache-2.0

/** Boot is the port that identifies the running boot of the host. */
export interface Boot {
  /** Returns a UUID that changes each time the kernel starts (random(4)). Rejects with HostError. */
  readBootId(): Promise<string>;
}

/**
 * BootProgram is the port for the program that systemd starts on the host while it boots: complete versions of it in
 * /var/lib/sriov, and a link `switchyard` to the version in use.
 * Path of the link to the version in use.
 */
export const bootProgramDirectory = "/var/lib/sriov/switchyard";

/** A version of the program. */
export interface ProgramVersion {
  /** Identifies the content: letters, digits, dots and hyphens. */
  readonly id: string;
  readonly files: readonly ProgramFile[];
}

/** A file of a version: a copy of a file that this process can read, or a text. */
export type ProgramFile = {
  /** Path in the directory of the version: "chunks/a.js". */
  readonly to: string;
  /** Whether the file is executable; not by default. */
  readonly executable?: boolean;
} & ({ readonly from: string } | { readonly text: string });

/** Rejects with HostError only. */
export interface BootProgram {
  /** Returns the id of the version in use; undefined if no version is complete. */
  readVersion(): Promise<string | undefined>;
  /**
   * Copies the version, uses it from then on, and removes all others. After a crash at any moment the host has either the
   * old or the new version. Does nothing if the version is in use. ENOSPC before anything is copied if the space does not
   * suffice, EROFS.
   */
  install(version: ProgramVersion): Promise<void>;
  /** Removes all versions and the link. No error if there are none. */
  removeAll(): Promise<void>;
}
