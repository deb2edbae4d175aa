// SPDX-License-Identifier: Apache-2.0
/**
 * serve runs the agent: it starts processes in the guest for the host, and reports their output and their exit codes. One Node
 * process serves a whole boot, because starting Node is slow under emulation. It imports node: modules and protocol.ts only.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { constants } from "node:os";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { parseRequest, type Report, type Request } from "./protocol.ts";

/** A background daemon keeps the output of its parent open. Output counts as ended after this time of silence after the exit. */
const drainMs = 500;

/** Serves the requests from `input` until its end. `send` must keep all reports and their order. */
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
  // detached: its own process group, so that a kill also reaches its children.
  const child = spawn(program, rest, {
    detached: true,
    env: { ...process.env, ...env },
    stdio: [input ? "pipe" : "ignore", "pipe", "pipe"],
  });
  let ended = false;
  let silence: NodeJS.Timeout | undefined;

  // Output after the end is read and dropped. Otherwise a background daemon would die of SIGPIPE.
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream]?.on("data", (data: Buffer) => {
      if (!ended) send({ type: "output", id, stream, data: data.toString("base64") });
      silence?.refresh();
    });
  }
  child.stdin?.on("error", () => undefined); // the process closed its input; its exit code shows whether that is an error
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
    // The process has already ended.
  }
}
