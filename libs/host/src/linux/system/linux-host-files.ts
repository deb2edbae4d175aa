// SPDX-License-Identifier: Apache-2.0
/** createLinuxHostFiles implements HostFiles on the file system below a root directory. */
import { promises as fs, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { operations } from "../../calls/operations.ts";
import { isErrno, makeDirectory } from "@switchyard/service";
import { toHostError, withHostError, type HostOperation } from "../../calls/host-error.ts";
import type { FileKind, HostFiles } from "../../ports/host-files.ts";
import { hostPaths, isPlaced, namingSetting } from "./host-paths.ts";
import { readTextFile, replaceFile, syncDirectory } from "./text-files.ts";

/** `root` is "/" or "/host". `stateDirectory` is that of hostPaths(). */
export function createLinuxHostFiles(root: string, stateDirectory?: string): HostFiles {
  const placeOf = hostPaths(stateDirectory);
  const files = createFilesAt(root);
  return {
    listNames: (directory) => files.listNames(placeOf(directory)),
    readKind: (path) => files.readKind(placeOf(path)),
    readText: (path) => files.readText(placeOf(path)),
    readLink: (path) => files.readLink(placeOf(path)),
    writeText: (path, text, options) =>
      files.writeText(placeOf(path), text, options).catch((error: unknown) => {
        throw isPlaced(path) ? namingSetting(error, placeOf(path)) : error;
      }),
    remove: (path) => files.remove(placeOf(path)),
  };
}

function createFilesAt(root: string): HostFiles {
  const { files: operation } = operations;
  return {
    listNames: (directory) =>
      orAbsent(operation.listNames(directory), [], async () => [...(await fs.readdir(join(root, directory)))].sort()),
    readKind: (path) =>
      orAbsent(operation.readKind(path), undefined, async () => kindOf(await fs.lstat(join(root, path)))),
    readText: (path) => orAbsent(operation.readText(path), undefined, () => readTextFile(join(root, path))),
    readLink: (path) => orAbsent(operation.readLink(path), undefined, () => fs.readlink(join(root, path))),
    writeText: (path, text, { executable = false } = {}) =>
      withHostError(operation.writeText(path, text), async () => {
        await makeDirectory(dirname(join(root, path)));
        await replaceFile(join(root, path), text, executable ? 0o755 : 0o644);
      }),
    remove: (path) =>
      orAbsent(operation.remove(path), undefined, async () => {
        await fs.unlink(join(root, path));
        await syncDirectory(dirname(join(root, path)));
      }),
  };
}

// ELOOP: a link in place of a file. EINVAL: no link in place of a link.
const absentCodes = ["ENOENT", "ENOTDIR", "ELOOP", "EINVAL"] as const;

/** Returns the result of `act`, or `absent` if there is no such file. */
async function orAbsent<Value, Absent>(
  at: HostOperation,
  absent: Absent,
  act: () => Promise<Value>,
): Promise<Value | Absent> {
  try {
    return await act();
  } catch (error) {
    if (isErrno(error, ...absentCodes)) return absent;
    throw toHostError(at, error);
  }
}

function kindOf(stats: Stats): FileKind {
  if (stats.isFile()) return "file";
  if (stats.isSymbolicLink()) return "link";
  return stats.isDirectory() ? "directory" : "other";
}
