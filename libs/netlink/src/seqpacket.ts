// SPDX-License-Identifier: Apache-2.0
/**
 * sendSeqpackets sends messages to a Unix socket of type SOCK_SEQPACKET, which Node does not support.
 * Usage: `await sendSeqpackets("/run/udev/control", [reload, end], { timeoutMs: 5_000 })`.
 */
import { setTimeout as delay } from "node:timers/promises";
import { loadLibc, type Libc } from "./libc.ts";
import { checked, NetlinkError } from "./netlink-error.ts";

export interface SeqpacketOptions {
  /** Time limit for the server to close the connection. */
  readonly timeoutMs: number;
  readonly libc?: Libc;
}

// asm-generic/socket.h. The kernel adds the ids of the sender to each message only if the sender or the receiver has this option.
// A server sets it after accept() at the earliest, as udevd 252-257 does unless systemd opened its socket. A message that
// arrives before that comes from uid 65534, and udevd discards it and closes the connection, as if it had handled it.
const solSocket = 1;
const soPassCredentials = 16;

/** sizeof(sun_path) without the NUL. */
const maxPathBytes = 107;

/**
 * Resolves when the server has closed the connection, which it does when it has handled the messages. Messages of the server
 * are ignored. Rejects with NetlinkError: ENOENT, ECONNREFUSED if no server listens, ENAMETOOLONG, ETIMEDOUT.
 */
export async function sendSeqpackets(
  path: string,
  messages: readonly Buffer[],
  { timeoutMs, libc = loadLibc() }: SeqpacketOptions,
): Promise<void> {
  const tried = `send messages to ${path}`;
  if (Buffer.byteLength(path) > maxPathBytes) throw new NetlinkError(tried, "ENAMETOOLONG");
  const fd = await connect(libc, path, timeoutMs);
  try {
    checked(tried, libc.setsockopt(fd, solSocket, soPassCredentials, 1));
    for (const message of messages) checked(tried, await libc.send(fd, message));
    const end = new AbortController();
    const isClosed = await Promise.race([
      closed(libc, fd, end.signal).then(() => true),
      delay(timeoutMs, false, { signal: end.signal }).catch(() => false),
    ]);
    end.abort();
    if (!isClosed) throw new NetlinkError(tried, "ETIMEDOUT", `no end within ${timeoutMs} ms`);
  } finally {
    libc.close(fd);
  }
}

/** The kernel's answer for a server that has not yet accepted an earlier connection, as a blocking connect() would wait for. */
const eagain = -11;
const retryMs = 20;

/** Returns the socket. Rejects with NetlinkError: ETIMEDOUT if the server accepts no connection for `timeoutMs`. */
async function connect(libc: Libc, path: string, timeoutMs: number): Promise<number> {
  const tried = `send messages to ${path}`;
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += retryMs) {
    const fd = libc.connectSeqpacket(path);
    if (fd !== eagain) return checked(tried, fd);
    await delay(retryMs);
  }
  throw new NetlinkError(tried, "ETIMEDOUT", `no connection accepted within ${timeoutMs} ms`);
}

/** Resolves at the end of the connection, or when `signal` aborts. */
function closed(libc: Libc, fd: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const buffer = Buffer.alloc(4096);
    const sender = Buffer.alloc(128);
    const finish = () => {
      unwatch();
      resolve();
    };
    const unwatch = libc.watchReadable(fd, () => {
      // 0 is the end. An error, such as ECONNRESET, is the end, too; EAGAIN is a false alarm.
      for (;;) {
        const received = libc.recvfrom(fd, buffer, sender);
        if (received === eagain) return;
        if (received <= 0) {
          finish();
          return;
        }
      }
    });
    signal.addEventListener("abort", finish, { once: true });
  });
}
