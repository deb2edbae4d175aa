// SPDX-License-Identifier: Apache-2.0

/**
 * HostFiles is the port for small files of the host, by their absolute paths on the host. The last component of a path is
 * never followed if it is a symbolic link. Rejects with HostError only.
 */
export interface HostFiles {
  /** Returns the names in a directory, sorted; an empty list if the directory does not exist. */
  listNames(directory: string): Promise<readonly string[]>;
  /** Returns the kind of the file at the path; undefined if nothing exists there. */
  readKind(path: string): Promise<FileKind | undefined>;
  /** Returns the text of a file; undefined if the file does not exist or is larger than 1 MiB. */
  readText(path: string): Promise<string | undefined>;
  /** Returns the target of a symbolic link as it is stored; undefined if there is no symbolic link. */
  readLink(path: string): Promise<string | undefined>;
  /**
   * Writes a file atomically and durably, and creates missing directories. A link at the path is replaced. EROFS, ENOSPC,
   * EISDIR.
   */
  writeText(path: string, text: string, options?: WriteOptions): Promise<void>;
  /** Removes a file or a link durably. No error if it does not exist; EROFS, EISDIR. */
  remove(path: string): Promise<void>;
}

export interface WriteOptions {
  /** Whether the file is a program; not by default. */
  readonly executable?: boolean;
}

export type FileKind = "file" | "link" | "directory" | "other";

/** readText returns undefined for a larger file. */
export const largestTextBytes = 1 << 20;

/**
 * ConfigDrive is the port for the config drive of an OpenStack instance: a small read-only disk with the label config-2 that
 * contains the metadata of the instance. It is read without being mounted.
 * Rejects with HostError only.
 */
export interface ConfigDrive {
  /**
   * Returns the text of a file by its path on the drive: "openstack/2018-08-27/meta_data.json". Returns undefined if the
   * machine has no config drive, or the drive has no such file. EBADMSG if it is not an ISO 9660 file system.
   */
  readText(path: string): Promise<string | undefined>;
}
