// SPDX-License-Identifier: Apache-2.0
/**
 * spawnGuarded starts a server as a child process that ends together with this process, even if this one is killed. A small
 * shell between them reads from a pipe and kills the server when the other end of the pipe closes. (Linux has
 * PR_SET_PDEATHSIG for this, but Node cannot set it.) The same pipe transports signals to the server.
 * Usage: `const etcd = spawnGuarded("/cache/etcd", ["--data-dir", "/tmp/etcd"], { log: "/tmp/etcd.log" }); await etcd.kill();`
 */
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename } from "node:path";

export interface GuardedProcess {
  /** Resolves when the process has ended and its ports are free, with its exit status, or 128 + n after signal n. */
  readonly exited: Promise<number>;
  readonly hasExited: () => boolean;
  /** Sends a signal. Does nothing if the process has ended. */
  signal(name: "TERM" | "STOP" | "CONT" | "USR2"): void;
  /** Sends SIGKILL and waits for the end of the process. */
  kill(): Promise<void>;
}

// fd 3 is the pipe. Each line is the name of a signal, and its end means that the parent has ended. `read` is a builtin of
// the shell, so no process is left over. When the server ends, the watcher is killed first, since the pid can be reused.
const guardScript = `
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
(
  while read -r name; do kill -s "$name" $server; done
  kill -s KILL $server
) <&3 2>/dev/null &
watcher=$!
wait $server
status=$?
kill -s KILL $watcher 2>/dev/null
exit $status
`;

/** Starts `file` and appends its output to `options.log`. If the file does not exist, the exit status is 127. */
export function spawnGuarded(file: string, args: readonly string[], options: { readonly log: string }): GuardedProcess {
  const log = openSync(options.log, "a");
  // detached: Ctrl-C in the terminal goes only to this process, which then stops its servers.
  const guard = spawn("/bin/sh", ["-c", guardScript, "guard", file, ...args], {
    stdio: ["pipe", log, log],
    detached: true,
  });
  closeSync(log);
  guard.stdin?.on("error", () => undefined); // EPIPE: the guard ended before it read the signal
  let ended = false;
  const exited = new Promise<number>((resolve, reject) => {
    guard.once("error", reject);
    guard.once("exit", (status) => {
      ended = true;
      guard.stdin?.destroy();
      resolve(status ?? 137); // null: the guard was killed by a signal
    });
  });
  exited.catch(() => undefined); // an unhandled rejection if nobody waits

  return {
    exited,
    hasExited: () => ended,
    signal(name) {
      if (!ended) guard.stdin?.write(`${name}\n`);
    },
    async kill() {
      guard.stdin?.end();
      await exited;
    },
  };
}

/**
 * readEnds reads the ends of log files, for the error message of the process that wrote them.
 * Returns one text per file that is not empty: a line with its name, and at most `bytes` bytes of its end.
 */
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
    return ""; // the process has not created the file
  }
}
