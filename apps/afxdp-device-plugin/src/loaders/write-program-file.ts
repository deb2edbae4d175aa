// SPDX-License-Identifier: Apache-2.0
/**
 * writeProgramFile writes Switchyard's XDP program as an object file for bpfman, unless the file has it already.
 * Usage: `await writeProgramFile("/var/lib/bpfman/switchyard");`
 */
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { bpfmanProgram } from "@switchyard/api";
import { encodeRedirectObject } from "@switchyard/netlink";
import { isErrno } from "@switchyard/service";

/** Replaces the file atomically: bpfman may read it at any time. Rejects with the errors of Node's file system. */
export async function writeProgramFile(directory: string): Promise<void> {
  const path = join(directory, bpfmanProgram.file);
  const content = encodeRedirectObject(bpfmanProgram.functionName);
  if ((await readIfThere(path))?.equals(content) === true) return;
  await mkdir(directory, { recursive: true });
  const beside = `${path}.new`;
  const file = await open(beside, "w", 0o644);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(beside, path);
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}
