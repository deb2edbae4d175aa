// SPDX-License-Identifier: Apache-2.0
/**
 * readStdin reads the whole standard input within a time limit. It does not use process.stdin, which would add 3 ms, a
 * seventh of a start (docs/decisions/010-eve-bridge-launcher.md): it reads pipes and files with read(2).
 */
import { closeSync, constants, createReadStream, fstatSync, openSync, readSync } from "node:fs";
import { CniError, cniCode, errnoOf } from "../request/cni-error.ts";
import { deadlineIn, leftMs, sleep } from "./deadline.ts";

/** Limits of size and time. */
export interface StdinLimits {
  readonly timeoutMs: number;
  readonly maxBytes?: number;
}

/** Far more than any network configuration has. */
const defaultMaxBytes = 8 * 1024 * 1024;

/** Reads `fd` to its end. Throws code 5 when the text is too long, 11 on a timeout. */
export async function readStdin(fd: number, { timeoutMs, maxBytes = defaultMaxBytes }: StdinLimits): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const take = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new CniError(cniCode.io, `stdin is longer than ${maxBytes} bytes`);
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
 * Opens the same pipe or file again, non-blocking; undefined for a socket or a terminal. Setting O_NONBLOCK on `fd`
 * itself would change the file description that the runtime shares.
 */
function openNonBlocking(fd: number): number | undefined {
  const stat = fstatSync(fd);
  if (!stat.isFIFO() && !stat.isFile()) return undefined;
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined; // a pipe of another user, or no /proc: readStream works, too
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
  // Not import(), which is not available in a program that runs from a code cache.
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
