// SPDX-License-Identifier: Apache-2.0
/**
 * listenSeqpackets serves a Unix socket of type SOCK_SEQPACKET. No thread waits for messages: the event loop polls the
 * descriptors.
 * Usage: `using server = listenSeqpackets({ path, maxConnections: 16, messageBytes: 64, connected: (connection) => handler });`
 */
import { lstatSync, unlinkSync } from "node:fs";
import { isErrno } from "@switchyard/service";
import { checked, errnoName, NetlinkError } from "../netlink-error.ts";
import { loadSeqpacketSystem, type SeqpacketSystem } from "./seqpacket-system.ts";

/** A received message. */
export interface SeqpacketMessage {
  /** At most `messageBytes`. */
  readonly bytes: Buffer;
  /** The message was longer. */
  readonly isTruncated: boolean;
  /** Descriptors that came with the message. They are closed when the handler returns. */
  readonly passed: readonly number[];
}

/** Receives the messages of one connection, from the event loop. */
export interface SeqpacketHandler {
  message(message: SeqpacketMessage): void;
  /** The connection has ended, whoever ended it. Called once. */
  closed(): void;
}

/** One connection. */
export interface SeqpacketConnection {
  /** Sends a message, with a duplicate of the descriptor `passed`. Closes the connection if the peer is gone or does not read. */
  send(message: Buffer, passed?: number): void;
  close(): void;
}

export interface SeqpacketServerOptions {
  readonly path: string;
  /** Further connections are closed at once. */
  readonly maxConnections: number;
  /** Longer messages are truncated. */
  readonly messageBytes: number;
  /** Returns the handler of a new connection. */
  readonly connected: (connection: SeqpacketConnection) => SeqpacketHandler;
  /** Called for each connection beyond maxConnections. */
  readonly refused?: () => void;
  readonly system?: SeqpacketSystem;
}

/** After this number of messages or connections, the event loop handles other work first. */
const maxAtOnce = 64;

export interface SeqpacketServer extends Disposable {
  /** Reports whether clients reach this server by the path: the file is there, and it is the one of this server. */
  isReachable(): boolean;
}

/**
 * Serves the socket until the result is disposed of, which also closes all connections and removes the file, unless it is that of
 * another server by now. Replaces a file that exists. Throws NetlinkError: EINVAL if the path is longer than 107 bytes, ENOENT, EACCES.
 */
export function listenSeqpackets(options: SeqpacketServerOptions): SeqpacketServer {
  const { path, maxConnections, connected, refused, system = loadSeqpacketSystem() } = options;
  const tried = `listen on ${path}`;
  removeFile(tried, path);
  const listening = checked(tried, system.listen(path));
  const own = fileIdentity(path);
  const open = new Set<() => void>();
  const stopAccepting = system.watchReadable(listening, () => {
    for (let count = 0; count < maxAtOnce; count++) {
      const fd = system.accept(listening);
      if (fd < 0) return; // EAGAIN; an error such as EMFILE is tried again at the next event
      if (open.size < maxConnections) serve(fd);
      else {
        system.close(fd);
        refused?.();
      }
    }
  });

  function serve(fd: number): void {
    let isOpen = true;
    const close = (): void => {
      if (!isOpen) return;
      isOpen = false;
      stopReading();
      system.close(fd);
      open.delete(close);
      handler.closed();
    };
    const send = (message: Buffer, passed?: number): void => {
      if (isOpen && system.send(fd, message, passed) < 0) close();
    };
    const buffer = Buffer.alloc(options.messageBytes);
    const handler = connected({ send, close });
    const stopReading = system.watchReadable(fd, () => {
      for (let count = 0; count < maxAtOnce && isOpen; count++) {
        const passed: number[] = [];
        const length = system.receive(fd, buffer, passed);
        if (length <= 0) {
          if (length === 0 || errnoName(-length) !== "EAGAIN") close();
          return;
        }
        try {
          const bytes = Buffer.from(buffer.subarray(0, Math.min(length, buffer.length)));
          handler.message({ bytes, isTruncated: length > buffer.length, passed });
        } finally {
          for (const one of passed) system.close(one);
        }
      }
    });
    open.add(close);
  }

  let isListening = true;
  const isReachable = (): boolean => isListening && own !== undefined && fileIdentity(path) === own;
  return {
    isReachable,
    [Symbol.dispose]() {
      if (!isListening) return;
      const isOwnFile = isReachable();
      isListening = false;
      stopAccepting();
      system.close(listening);
      for (const close of open) close();
      if (isOwnFile) removeFile(tried, path);
    },
  };
}

function removeFile(tried: string, path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!isErrno(error)) throw error;
    if (error.code !== "ENOENT") throw new NetlinkError(tried, error.code);
  }
}

/** Returns what differs between a file and another of the same name; undefined if there is none. */
function fileIdentity(path: string): string | undefined {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}/${found.ino}`;
}
