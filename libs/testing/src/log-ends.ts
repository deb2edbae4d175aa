// SPDX-License-Identifier: Apache-2.0
/**
 * The ends of log files, to be shown in the error of the process that wrote them.
 * Usage: `[what, ...(await readEnds(["/tmp/x/etcd.log"]))].join("\n")`
 */
import { open } from "node:fs/promises";
import { basename } from "node:path";

/** One text per file that has something, headed by its name; at most `bytes` of each. */
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
    return ""; // never written: its process did not come to that
  }
}
