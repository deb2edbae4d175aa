// SPDX-License-Identifier: Apache-2.0
/**
 * readEnds reads the ends of log files, for the error message of the process that wrote them.
 * Usage: `const ends = await readEnds(["/tmp/x/etcd.log"])`.
 */
import { open } from "node:fs/promises";
import { basename } from "node:path";

/** Returns one text per file that is not empty: a line with its name, and at most `bytes` bytes of its end. */
export async function readEnds(paths: readonly string[], bytes = 2_000): Promise<readonly string[]> {
  const ends = await Promise.all(paths.map(async (path) => ({ path, text: await readEnd(path, bytes) })));
  return ends.filter(({ text }) => text !== "").map(({ path, text }) => `--- end of ${basename(path)}\n${text}`);
}

async function readEnd(path: string, bytes: number): Promise<string> {
  try {
    await using file = await open(path, "r");
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(bytes), position: Math.max(0, size - bytes) });
    return buffer.toString("utf8", 0, bytesRead);
  } catch {
    return ""; // the process has not created the file
  }
}
