// SPDX-License-Identifier: Apache-2.0
/**
 * createGuestProcess represents a process in the guest on the host: its streams and a promise of its exit code.
 * Usage: `const daemon = guest.spawn(["node", "/share/main.js"]); daemon.stderr.pipe(process.stderr)`
 */
import { Readable } from "node:stream";
import type { Report, Request } from "../agent/protocol.ts";

/** A command line for the shell of the guest, or a program with its arguments, which needs no shell process. */
export type Command = string | readonly string[];

export interface GuestProcess {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /**
   * As in a shell: 128 + n if signal n ended the process, 127 if it could not be started. Rejects with VmLabError if the guest
   * is lost or reboots.
   */
  readonly exitCode: Promise<number>;
  /** Resolves when the data are sent. Only for a process that was spawned with `input`. */
  write(data: string | Uint8Array): Promise<void>;
  /** Closes the input of the process. */
  endInput(): void;
  /** Sends a signal to the process group of the process. */
  kill(signal?: NodeJS.Signals): void;
}

/** The interface for the connection, which forwards the reports of the agent. */
export interface ProcessFeed {
  readonly process: GuestProcess;
  output(report: Extract<Report, { type: "output" }>): void;
  exit(code: number): void;
  fail(error: unknown): void;
}

/** `send` resolves when the request is sent. */
export function createGuestProcess(id: number, send: (request: Request) => Promise<void>): ProcessFeed {
  const streams = { stdout: new Readable({ read() {} }), stderr: new Readable({ read() {} }) };
  const { promise: exitCode, resolve, reject } = Promise.withResolvers<number>();
  exitCode.catch(() => undefined); // callers need not wait for the exit code

  function end(): void {
    streams.stdout.push(null);
    streams.stderr.push(null);
  }

  return {
    process: {
      ...streams,
      exitCode,
      write: (data) => send({ type: "input", id, data: Buffer.from(data).toString("base64") }),
      endInput: () => void send({ type: "input", id }),
      kill: (signal = "SIGTERM") => void send({ type: "kill", id, signal }),
    },
    output({ stream, data }) {
      streams[stream].push(Buffer.from(data, "base64"));
    },
    exit(code) {
      end();
      resolve(code);
    },
    fail(error) {
      end();
      reject(error);
    },
  };
}
