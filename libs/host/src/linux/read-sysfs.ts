// SPDX-License-Identifier: Apache-2.0
/**
 * Reads of sysfs where what is read may vanish at any moment: undefined then, in place of an error.
 * Usage: `const driver = await readLinkName(join(device, "driver"))`.
 */
import { promises as fs } from "node:fs";
import { basename } from "node:path";
import { isErrno } from "../calls/host-error.ts";

/** An attribute's text, without the newline at its end. */
export function readAttribute(path: string): Promise<string | undefined> {
  return unlessGone(async () => (await fs.readFile(path, "utf8")).trimEnd());
}

/** Names in a directory, in no order. */
export function readNames(path: string): Promise<readonly string[] | undefined> {
  return unlessGone(() => fs.readdir(path));
}

/** What a link points to, as it stands there. */
export function readLinkTarget(path: string): Promise<string | undefined> {
  return unlessGone(() => fs.readlink(path));
}

/** The last part of what a link points to: "igb" for driver -> ../../bus/pci/drivers/igb. */
export async function readLinkName(path: string): Promise<string | undefined> {
  const target = await readLinkTarget(path);
  return target === undefined ? undefined : basename(target);
}

export async function exists(path: string): Promise<boolean> {
  return (await unlessGone(() => fs.access(path).then(() => true))) ?? false;
}

async function unlessGone<Value>(read: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isErrno(error) && goneCodes.has(error.code)) return undefined;
    throw error;
  }
}

// ENODEV: the file was open already when its device went. ENOTDIR: a part of the path is no directory (any more).
const goneCodes: ReadonlySet<string> = new Set(["ENOENT", "ENODEV", "ENOTDIR"]);
