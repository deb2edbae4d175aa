// SPDX-License-Identifier: Apache-2.0
/**
 * createNetworkNamespace makes a network namespace for a test. A child process holds the namespace and ends together with
 * the test process, even if that is killed.
 * Usage: `await using namespace = await createNetworkNamespace(); await namespace.run("ip", "link")`.
 */
import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";

export interface NetworkNamespace extends AsyncDisposable {
  /** Path for the `netns` option of sockets. */
  readonly path: string;
  /** Root of the file system in the namespace: its sys/class/net has the interfaces of the namespace. */
  readonly root: string;
  /** Runs a command in the namespace and returns its standard output. Rejects if the command fails. */
  run(command: string, ...args: readonly string[]): Promise<string>;
}

/** Returns why this machine cannot create a network namespace, for the name of a skipped test, or undefined if it can. */
export function missingForNamespaces(): string | undefined {
  const probe = spawnSync("unshare", ["--net", "--mount", "ip", "link", "add", "type", "veth"], { encoding: "utf8" });
  const reason = probe.error?.message ?? (probe.status === 0 ? undefined : probe.stderr.trim());
  if (reason !== undefined) console.error(`SKIPPED: cannot create a network namespace: ${reason}`);
  return reason;
}

export async function createNetworkNamespace(): Promise<NetworkNamespace> {
  const mountSysfs = "mount -t sysfs sysfs /sys && echo ready && exec cat"; // cat ends when its input does
  const holder = spawn("unshare", ["--net", "--mount", "sh", "-c", mountSysfs], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(holder, "exit");
  await Promise.race([
    once(holder.stdout, "data"),
    exited.then(() => Promise.reject(new Error("cannot create a network namespace"))),
  ]);
  if (holder.pid === undefined) throw new Error("no process holds the network namespace");
  const target = `--target=${holder.pid}`;

  return {
    path: `/proc/${holder.pid}/ns/net`,
    root: `/proc/${holder.pid}/root`,
    async run(command, ...args) {
      const { stdout } = await promisify(execFile)("nsenter", [target, "--net", "--mount", command, ...args]);
      return stdout;
    },
    async [Symbol.asyncDispose]() {
      holder.stdin.end();
      await exited;
    },
  };
}
