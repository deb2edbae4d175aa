// SPDX-License-Identifier: Apache-2.0
/**
 * A server as a child process that cannot outlive us, even when we are killed: a small shell between holds the reading
 * end of a pipe, and when the pipe's other end goes, kills the server. (Linux alone could do with PR_SET_PDEATHSIG,
 * which Node cannot set.) The same pipe carries the signals that we send.
 * Usage: `const etcd = spawnGuarded("/cache/etcd", ["--data-dir", dir], { log: "/tmp/etcd.log" }); await etcd.kill()`
 */
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";

export interface GuardedProcess {
  /** Settles when the process has ended and its ports are free: its exit status, 128 + n after signal n. */
  readonly exited: Promise<number>;
  readonly hasExited: () => boolean;
  /** Does nothing once the process has ended. */
  signal(name: "TERM" | "STOP" | "CONT" | "USR2"): void;
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>;
}

// One pipe, fd 3: a line is a signal's name, its end means that we are gone. `read` is of the shell itself, so no
// process is left over. The watcher goes first when the server ends: its pid may soon be somebody else's.
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

/** Starts `file`; its output is appended to `options.log`. A missing file is exit status 127. */
export function spawnGuarded(file: string, args: readonly string[], options: { readonly log: string }): GuardedProcess {
  const log = openSync(options.log, "a");
  // detached: a Ctrl-C in the terminal is for us alone, we end our servers in order.
  const guard = spawn("/bin/sh", ["-c", guardScript, "guard", file, ...args], {
    stdio: ["pipe", log, log],
    detached: true,
  });
  closeSync(log);
  guard.stdin?.on("error", () => undefined); // EPIPE: it ended before it read our signal
  let ended = false;
  const exited = new Promise<number>((resolve, reject) => {
    guard.once("error", reject);
    guard.once("exit", (status) => {
      ended = true;
      guard.stdin?.destroy();
      resolve(status ?? 137); // null: the guard itself was killed
    });
  });
  exited.catch(() => undefined); // told to whoever waits; to nobody it is no crash

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
