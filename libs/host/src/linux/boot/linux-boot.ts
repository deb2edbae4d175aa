// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxBoot implements Boot with /proc/sys/kernel/random/boot_id, which is the same in all containers of a node.
 * Usage: `await createLinuxBoot("/").readBootId()`.
 */
import { isErrno, makeDirectory } from "@switchyard/service";
import { promises as fs } from "node:fs";
import { basename, dirname, join } from "node:path";
import { HostError, toHostError, withHostError } from "../../calls/host-error.ts";
import { operations } from "../../calls/operations.ts";
import {
  bootProgramDirectory,
  type Boot,
  type BootProgram,
  type ProgramFile,
  type ProgramVersion,
} from "../../ports/boot.ts";
import { syncDirectory } from "../system/text-files.ts";

/** `root` is the directory that contains proc. */
export function createLinuxBoot(root: string): Boot {
  let bootId: string | undefined; // the same for the life of this process

  return {
    readBootId: () =>
      withHostError(operations.boot.readBootId(), async () => {
        bootId ??= (await fs.readFile(join(root, "proc/sys/kernel/random/boot_id"), "utf8")).trimEnd();
        return bootId;
      }),
  };
}

const linkName = basename(bootProgramDirectory);

/** Directory of a complete version, and of one that is being copied. */
const completePrefix = `${linkName}-`;

const draftPrefix = `.${linkName}-`;

/** Space that must remain free. Records and the files of other programs are in the same file system. */
const reserveBytes = 64 << 20;

/**
 * createLinuxBootProgram implements BootProgram on the file system below a root directory. A version is copied to a
 * directory with another name, written to the disk, and renamed when it is complete.
 * `root` is "/" or "/host".
 */
export function createLinuxBootProgram(root: string): BootProgram {
  const { bootProgram: operation } = operations;
  const home = join(root, dirname(bootProgramDirectory));
  const link = join(root, bootProgramDirectory);

  async function readVersion(): Promise<string | undefined> {
    const target = await orAbsent(fs.readlink(link));
    if (target?.startsWith(completePrefix) !== true || target.includes("/")) return undefined;
    return (await orAbsent(fs.stat(join(home, target)))) === undefined
      ? undefined
      : target.slice(completePrefix.length);
  }

  async function install(version: ProgramVersion): Promise<void> {
    const name = `${completePrefix}${version.id}`;
    await makeDirectory(home);
    if ((await readVersion()) !== version.id) {
      if ((await orAbsent(fs.stat(join(home, name)))) === undefined) await copyVersion(version, name);
      await switchTo(name);
    }
    await removeVersions(name);
  }

  async function copyVersion(version: ProgramVersion, name: string): Promise<void> {
    await removeDrafts();
    await checkSpace(version);
    const draft = join(home, `${draftPrefix}${version.id}`);
    try {
      const directories = new Set([draft]);
      for (const file of version.files) directories.add(dirname(join(draft, file.to)));
      for (const directory of directories) await makeDirectory(directory);
      for (const file of version.files) await putFile(file, join(draft, file.to));
      for (const directory of directories) await syncDirectory(directory);
      await fs.rename(draft, join(home, name));
      await syncDirectory(home);
    } catch (error) {
      await fs.rm(draft, { recursive: true, force: true }).catch(() => undefined); // the first error is reported
      throw error;
    }
  }

  async function checkSpace(version: ProgramVersion): Promise<void> {
    let needed = reserveBytes;
    for (const file of version.files) {
      needed += "text" in file ? Buffer.byteLength(file.text) : (await fs.stat(file.from)).size;
    }
    const { bavail, bsize } = await fs.statfs(home);
    if (bavail * bsize >= needed) return;
    const words = `${mebibytes(needed)} MiB needed, ${mebibytes(bavail * bsize)} MiB free`;
    throw new HostError(operation.install(version), "ENOSPC", { words });
  }

  async function switchTo(name: string): Promise<void> {
    const beside = join(home, `${draftPrefix}link`);
    await fs.rm(beside, { force: true }); // left by a process that was killed
    await fs.symlink(name, beside);
    // rename(2) does not replace a directory by a link.
    const present = await orAbsent(fs.lstat(link));
    if (present?.isDirectory() === true) throw new HostError({ action: "replace", target: link }, "EISDIR", {});
    await fs.rename(beside, link);
    await syncDirectory(home);
  }

  async function removeVersions(except?: string): Promise<void> {
    for (const name of await listNames(home)) {
      const isVersion = name.startsWith(completePrefix) && name !== except;
      if (isVersion) await fs.rm(join(home, name), { recursive: true, force: true });
    }
    await removeDrafts();
  }

  async function removeDrafts(): Promise<void> {
    for (const name of await listNames(home)) {
      if (name.startsWith(draftPrefix)) await fs.rm(join(home, name), { recursive: true, force: true });
    }
  }

  async function removeAll(): Promise<void> {
    if ((await orAbsent(fs.readlink(link))) !== undefined) await fs.unlink(link);
    await removeVersions();
    await syncDirectory(home);
    await fs.rmdir(home).catch(() => undefined); // has files of others
  }

  return {
    readVersion: () => withHostError(operation.readVersion(), readVersion),
    async install(version) {
      if (!isSafe(version)) throw new HostError(operation.install(version), "EINVAL", {});
      await install(version).catch((error: unknown) => {
        throw toHostError(operation.install(version), error);
      });
    },
    removeAll: () => withHostError(operation.removeAll(), removeAll),
  };
}

async function putFile(file: ProgramFile, path: string): Promise<void> {
  if ("text" in file) await fs.writeFile(path, file.text, { flag: "wx" });
  else await fs.copyFile(file.from, path);
  await fs.chmod(path, file.executable === true ? 0o755 : 0o644); // independent of the umask
  const handle = await fs.open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The id and the names of files must not leave the directory. */
function isSafe({ id, files }: ProgramVersion): boolean {
  const names = files.flatMap(({ to }) => to.split("/"));
  return /^[\w.-]+$/.test(id) && names.every((name) => name !== "" && name !== "." && name !== "..");
}

async function listNames(directory: string): Promise<readonly string[]> {
  return (await orAbsent(fs.readdir(directory))) ?? [];
}

/** Resolves with undefined if there is no such file or link. */
async function orAbsent<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "EINVAL", "ELOOP")) return undefined;
    throw error;
  }
}

function mebibytes(bytes: number): number {
  return Math.ceil(bytes / (1 << 20));
}
