// SPDX-License-Identifier: Apache-2.0
/**
 * A process in the guest, as the host sees it: streams, and a promise of its end.
 * Usage: `const daemon = guest.spawn(["node", "/share/main.js"]); daemon.stderr.pipe(process.stderr)`
 */
import { Readable } from "node:stream";
import type { Report, Request } from "./protocol.ts";

/** A line for the guest's shell, or a program and its arguments, which costs one process less. */
export type Command = string | readonly string[];

export interface GuestProcess {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /**
   * As in a shell: 128 + n for one ended by signal n, 127 for one that could not be started. Rejects with VmLabError when
   * the guest is lost or booted again.
   */
  readonly exitCode: Promise<number>;
  /** Resolves when the data are on their way. Only for a process that was spawned with `input`. */
  write(data: string | Uint8Array): Promise<void>;
  /** End of the process's input. */
  endInput(): void;
  /** To the process and what it started in its process group. */
  kill(signal?: NodeJS.Signals): void;
}

/** The host's end of a process: what the agent's connection feeds. */
export interface ProcessFeed {
  readonly process: GuestProcess;
  output(report: Extract<Report, { type: "output" }>): void;
  exit(code: number): void;
  fail(error: unknown): void;
}

/** `send` resolves when the request is on its way. */
export function createGuestProcess(id: number, send: (request: Request) => Promise<void>): ProcessFeed {
  const streams = { stdout: new Readable({ read() {} }), stderr: new Readable({ read() {} }) };
  const { promise: exitCode, resolve, reject } = Promise.withResolvers<number>();
  exitCode.catch(() => undefined); // one who does not wait for the end does not care how it comes

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
