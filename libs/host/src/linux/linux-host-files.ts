// SPDX-License-Identifier: Apache-2.0
/**
 * HostFiles in a tree of files.
 * Usage: `await createLinuxHostFiles("/host").readText("/etc/udev/rules.d/10-pf-name-0000:3b:00.0.rules")`.
 */
import { constants, promises as fs, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { attempts } from "../calls/operations.ts";
import { isErrno, toHostError, type HostError } from "../calls/host-error.ts";
import { largestTextBytes, type FileKind, type HostFiles } from "../ports/host-files.ts";
import { syncDirectory } from "./sync-directory.ts";

/** HostFiles of the tree at `root`: "/" or "/host". */
export function createLinuxHostFiles(root: string): HostFiles {
  const { files: attempt } = attempts;
  return {
    listNames: (directory) =>
      told(attempt.listNames(directory), [], async () => [...(await fs.readdir(join(root, directory)))].sort()),
    readKind: (path) => told(attempt.readKind(path), undefined, async () => kindOf(await fs.lstat(join(root, path)))),
    readText: (path) => told(attempt.readText(path), undefined, () => readText(join(root, path))),
    readLink: (path) => told(attempt.readLink(path), undefined, () => fs.readlink(join(root, path))),
    remove: (path) =>
      told(attempt.remove(path), undefined, async () => {
        await fs.unlink(join(root, path));
        await syncDirectory(dirname(join(root, path)));
      }),
  };
}

// ELOOP: a link, where it must not be one. EINVAL: no link, where it must be one.
const absent: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EINVAL"]);

/** What `act` gives, or `nothing` where there is no such file. */
async function told<Value, Nothing>(
  at: HostError["at"],
  nothing: Nothing,
  act: () => Promise<Value>,
): Promise<Value | Nothing> {
  try {
    return await act();
  } catch (error) {
    if (isErrno(error) && absent.has(error.code)) return nothing;
    throw toHostError(at, error);
  }
}

// Not to wait for ever where somebody put a FIFO.
async function readText(path: string): Promise<string | undefined> {
  const file = await fs.open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    return stats.isFile() && stats.size <= largestTextBytes ? await file.readFile("utf8") : undefined;
  } finally {
    await file.close();
  }
}

function kindOf(stats: Stats): FileKind {
  if (stats.isFile()) return "file";
  if (stats.isSymbolicLink()) return "link";
  return stats.isDirectory() ? "directory" : "other";
}
