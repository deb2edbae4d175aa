// SPDX-License-Identifier: Apache-2.0
/**
 * Reads files, links and directories of sysfs, and of other file systems that the kernel keeps in memory, which can vanish at any
 * moment. All functions return undefined if the path does not exist. Only readLockedAttribute can take long. The others are
 * synchronous: each system call on a thread of libuv's pool would take ten times its own CPU time (Node 24.21).
 */
import { isErrno } from "@switchyard/service";
import {
  closeSync,
  lstatSync,
  openSync,
  read,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";

/** The kernel formats an attribute into one page. */
const attributeBytes = 4_096;

const readOnThread = promisify(read);

/** Returns the text of an attribute without the trailing newline. */
export function readAttribute(path: string): string | undefined {
  return unlessGone(() => readFileSync(path, "utf8").trimEnd());
}

/**
 * Likewise, for an attribute that the kernel reads under a lock that can be held for long, such as that of a device. The lock is
 * taken by the first read and not while the file is opened or closed (kernfs_fop_open, 6.12).
 */
export async function readLockedAttribute(path: string): Promise<string | undefined> {
  const fd = unlessGone(() => openSync(path, "r"));
  if (fd === undefined) return undefined;
  try {
    const { bytesRead, buffer } = await readOnThread(fd, Buffer.alloc(attributeBytes), 0, attributeBytes, 0);
    return buffer.toString("utf8", 0, bytesRead).trimEnd();
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** Returns the names in a directory, not sorted. */
export function readNames(path: string): readonly string[] | undefined {
  return unlessGone(() => readdirSync(path));
}

/** Returns the target of a link as it is stored. */
export function readLinkTarget(path: string): string | undefined {
  return unlessGone(() => readlinkSync(path));
}

/** Returns the path without links. */
export function readRealPath(path: string): string | undefined {
  return unlessGone(() => realpathSync.native(path));
}

/** Returns the last part of the target of a link: "igb" for driver -> ../../bus/pci/drivers/igb. */
export function readLinkName(path: string): string | undefined {
  const target = readLinkTarget(path);
  return target === undefined ? undefined : basename(target);
}

/** Returns the inode number of a file, or of a link itself. */
export function readInode(path: string, { isLink = false } = {}): bigint | undefined {
  const options = { bigint: true, throwIfNoEntry: false } as const;
  return unlessGone(() => (isLink ? lstatSync(path, options) : statSync(path, options)))?.ino;
}

export function exists(path: string): boolean {
  return unlessGone(() => statSync(path, { throwIfNoEntry: false })) !== undefined;
}

function unlessGone<Value>(act: () => Value): Value | undefined {
  try {
    return act();
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

// ENODEV: the device was removed after the file was opened. ENOTDIR: a part of the path is not a directory any more.
function isGone(error: unknown): boolean {
  return isErrno(error, "ENOENT", "ENODEV", "ENOTDIR");
}

/**
 * isModuleLoaded reads the state of a kernel module from /sys/module.
 * Reports whether the module is loaded and initialized, or built in with parameters.
 */
export function isModuleLoaded(root: string, module: string): boolean {
  const directory = join(root, "sys/module", module.replaceAll("-", "_"));
  if (readNames(directory) === undefined) return false;
  // "coming" while it initializes, "going" while it is unloaded. Built-in modules do not have the file.
  const state = readAttribute(join(directory, "initstate"));
  return state === undefined || state === "live";
}
