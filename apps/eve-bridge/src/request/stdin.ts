// SPDX-License-Identifier: Apache-2.0
/**
 * Standard input, read whole and within a deadline. process.stdin would do, but loading it costs 3 ms, a seventh of a
 * start (docs/decisions/010-eve-bridge-launcher.md), so the usual case, a pipe, is read by hand.
 * Usage: `const text = await readStdin(0, { timeoutMs: 10_000 })`.
 */
import { closeSync, constants, createReadStream, fstatSync, openSync, readSync } from "node:fs";
import { CniError, cniCode, errnoOf } from "./cni-error.ts";
import { deadlineIn, leftMs, sleep } from "../process/deadline.ts";

/** How much and how long. */
export interface StdinLimits {
  readonly timeoutMs: number;
  readonly maxBytes?: number;
}

/** Far beyond any network configuration. */
const defaultMaxBytes = 8 * 1024 * 1024;

/** The text on `fd`. Throws code 5 when it is too long, 11 when its end does not come. */
export async function readStdin(fd: number, { timeoutMs, maxBytes = defaultMaxBytes }: StdinLimits): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const take = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new CniError(cniCode.io, `stdin has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  };

  const own = openNonBlocking(fd);
  if (own === undefined) await readStream(fd, timeoutMs, take);
  else {
    try {
      await readDescriptor(own, timeoutMs, take);
    } finally {
      closeSync(own);
    }
  }
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * The same pipe or file, opened again so that reading does not block; undefined for what cannot be: a socket, a terminal.
 * The flag would otherwise be set for the runtime's end of the description too.
 */
function openNonBlocking(fd: number): number | undefined {
  const stat = fstatSync(fd);
  if (!stat.isFIFO() && !stat.isFile()) return undefined;
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined; // another user's pipe, or no /proc: the slow way works
  }
}

async function readDescriptor(fd: number, timeoutMs: number, take: (chunk: Buffer) => void): Promise<void> {
  const deadline = deadlineIn(timeoutMs);
  const buffer = Buffer.allocUnsafe(64 * 1024);
  for (;;) {
    try {
      const count = readSync(fd, buffer, 0, buffer.length, null);
      if (count === 0) return;
      take(Buffer.from(buffer.subarray(0, count)));
    } catch (error) {
      if (errnoOf(error) !== "EAGAIN") throw error;
      await sleep(leftMs(deadline, 2));
    }
  }
}

async function readStream(fd: number, timeoutMs: number, take: (chunk: Buffer) => void): Promise<void> {
  // Not import(): a program that runs from a code cache has none.
  const { Socket } = process.getBuiltinModule("node:net");
  const stream = fstatSync(fd).isSocket() ? new Socket({ fd, readable: true }) : createReadStream("", { fd });
  const timer = setTimeout(() => {
    stream.destroy(new CniError(cniCode.tryAgain, `stdin did not end within ${timeoutMs} ms`));
  }, timeoutMs);
  try {
    for await (const chunk of stream) take(Buffer.from(chunk as Buffer));
  } finally {
    clearTimeout(timer);
  }
}
