// SPDX-License-Identifier: Apache-2.0
/**
 * Port: small files of the host, by their absolute paths there. A symbolic link in the place of a file is a link, and is
 * never followed.
 */

export interface HostFiles {
  /** Names in a directory, sorted; none where there is no such directory. */
  listNames(directory: string): Promise<readonly string[]>;
  /** What is at the path; undefined: nothing. */
  readKind(path: string): Promise<FileKind | undefined>;
  /** Text of a file; undefined where there is none, or one that is larger than 1 MiB. */
  readText(path: string): Promise<string | undefined>;
  /** What a symbolic link points to, as it stands there; undefined where there is none. */
  readLink(path: string): Promise<string | undefined>;
  /** Removes a file or a link, durably. No error where there is none; rejects with HostError: EROFS, EISDIR. */
  remove(path: string): Promise<void>;
}

export type FileKind = "file" | "link" | "directory" | "other";

/** Larger texts are not read. */
export const largestTextBytes = 1 << 20;
