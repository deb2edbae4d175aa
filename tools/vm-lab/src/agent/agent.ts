// SPDX-License-Identifier: Apache-2.0
/**
 * The agent: starts processes in the guest for the host and reports what they say and how they end. One Node process for
 * a whole boot, since under emulation starting one is what costs time. It depends on nothing but node: and protocol.ts.
 * Usage: `await serve(process.stdin, send)`
 */
import { spawn, type ChildProcess } from "node:child_process";
import { constants } from "node:os";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { parseRequest, type Report, type Request } from "../protocol.ts";

/** A daemon left in the background holds its parent's output open: this long after the exit, silence counts as the end. */
const drainMs = 500;

/** Serves the requests that come from `input` until its end. `send` may neither lose nor reorder reports. */
export async function serve(input: Readable, send: (report: Report) => void): Promise<void> {
  const processes = new Map<number, ChildProcess>();

  for await (const line of createInterface({ input })) {
    const request = parseRequest(line);
    if (request === undefined) continue;
    const { id } = request;
    if (request.type === "start") {
      processes.set(
        id,
        start(request, (report) => {
          if (report.type === "exit") processes.delete(id);
          send(report);
        }),
      );
    } else if (request.type === "kill") {
      killGroup(processes.get(id), request.signal);
    } else if (request.data === undefined) {
      processes.get(id)?.stdin?.end();
    } else {
      processes.get(id)?.stdin?.write(Buffer.from(request.data, "base64"));
    }
  }
}

function start(request: Extract<Request, { type: "start" }>, send: (report: Report) => void): ChildProcess {
  const { id, argv, env, input } = request;
  const [program = "", ...rest] = argv;
  // detached: a process group of its own, so that a kill reaches what it started.
  const child = spawn(program, rest, {
    detached: true,
    env: { ...process.env, ...env },
    stdio: [input ? "pipe" : "ignore", "pipe", "pipe"],
  });
  let ended = false;
  let silence: NodeJS.Timeout | undefined;

  // What comes after the end is read and dropped: a daemon must not die of SIGPIPE because nobody listens any more.
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream]?.on("data", (data: Buffer) => {
      if (!ended) send({ type: "output", id, stream, data: data.toString("base64") });
      silence?.refresh();
    });
  }
  child.stdin?.on("error", () => undefined); // it closed its input: its exit code tells what it made of that
  child.on("error", (error) => {
    const words = Buffer.from(`${program}: ${error.message}\n`);
    send({ type: "output", id, stream: "stderr", data: words.toString("base64") });
    end(127);
  });
  child.on("exit", (status, signal) => {
    const code = status ?? 128 + (signal === null ? 0 : constants.signals[signal]);
    silence = setTimeout(end, drainMs, code);
    child.on("close", () => {
      end(code);
    });
  });
  return child;

  function end(code: number): void {
    clearTimeout(silence);
    if (!ended) send({ type: "exit", id, code });
    ended = true;
  }
}

function killGroup(child: ChildProcess | undefined, signal: string): void {
  if (child?.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It ended by itself meanwhile, which is what was wanted.
  }
}
