// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxKernelLog implements KernelLog with /dev/kmsg (Documentation/ABI/testing/dev-kmsg). Each read returns one record, and
 * EAGAIN at the end. The records are in memory, so that reading one is cheaper than a thread of libuv's pool.
 */
import { isErrno } from "@switchyard/service";
import { constants, openSync, readSync } from "node:fs";
import { join } from "node:path";
import type { KernelLog } from "../../ports/kernel.ts";

/** PRINTKRB_RECORD_MAX is 1,024, and each byte of a record takes up to four bytes. Smaller buffers get EINVAL. */
const recordBytes = 8_192;

/** Limit of what one call reads. A file that is not the kernel log could go on for ever. */
const maxRecords = 50_000;

/** Lines that are kept: those of devices. A step that fails logs a few. */
const maxLines = 500;

interface Line {
  readonly position: number;
  readonly text: string;
}

/** `root` is "/" or "/host". The log stays open after the first call. */
export function createLinuxKernelLog(root: string): KernelLog {
  const buffer = Buffer.alloc(recordBytes);
  let lines: readonly Line[] = [];
  let fd: number | undefined;
  let position = 0;

  function readNew(): void {
    fd ??= open(join(root, "dev/kmsg"));
    if (fd === undefined) return;
    const added: Line[] = [];
    for (let nth = 0; nth < maxRecords; nth++) {
      const record = readRecord(fd, buffer);
      if (record === undefined) break;
      position++;
      const text = textOf(record);
      if (text !== undefined && isOfDevice(text)) added.push({ position, text });
    }
    lines = [...lines, ...added].slice(-maxLines);
  }

  return {
    readPosition() {
      readNew();
      return Promise.resolve(position);
    },
    readLines({ after, device }) {
      readNew();
      const found = lines.filter((line) => line.position > after && line.text.includes(device));
      return Promise.resolve(found.map(({ text }) => text));
    },
  };
}

/** Returns undefined where the log cannot be read: it only explains errors. */
function open(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isErrno(error)) return undefined;
    throw error;
  }
}

/** Returns undefined at the end of the log, and an empty record in place of records that were overwritten. */
function readRecord(fd: number, buffer: Buffer): string | undefined {
  try {
    const length = readSync(fd, buffer);
    return length === 0 ? undefined : buffer.toString("utf8", 0, length);
  } catch (error) {
    if (isErrno(error, "EPIPE")) return "";
    if (isErrno(error)) return undefined;
    throw error;
  }
}

/** A record is "6,1234,98765,-;text" and lines with the properties of the device. */
function textOf(record: string): string | undefined {
  return /^[^;\n]*;([^\n]*)/.exec(record)?.[1];
}

function isOfDevice(text: string): boolean {
  return /[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]/.test(text);
}
