// SPDX-License-Identifier: Apache-2.0
/**
 * A network namespace of a test's own, gone with the test even if it is killed: a child process holds it, and ends when this
 * one does. Usage: `await using namespace = await createNetworkNamespace(); await namespace.run("ip", "link")`.
 */
import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";

export interface NetworkNamespace extends AsyncDisposable {
  /** For the `netns` option of sockets. */
  readonly path: string;
  /** The file system as seen from there: sys/class/net under it has the namespace's interfaces. */
  readonly root: string;
  /** Runs a command there, with a sysfs of its own; its standard output. Rejects where the command fails. */
  run(command: string, ...args: readonly string[]): Promise<string>;
}

/** Why there can be no such namespace here, for the name of the skipped test; undefined where all is well. */
export function missingForNamespaces(): string | undefined {
  const probe = spawnSync("unshare", ["--net", "--mount", "ip", "link", "add", "type", "veth"], { encoding: "utf8" });
  const reason = probe.error?.message ?? (probe.status === 0 ? undefined : probe.stderr.trim());
  if (reason !== undefined) console.error(`SKIPPED, for want of a network namespace of its own: ${reason}`);
  return reason;
}

export async function createNetworkNamespace(): Promise<NetworkNamespace> {
  const mountSysfs = "mount -t sysfs sysfs /sys && echo ready && exec cat"; // cat ends when its input does
  const holder = spawn("unshare", ["--net", "--mount", "sh", "-c", mountSysfs], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(holder, "exit");
  await Promise.race([
    once(holder.stdout, "data"),
    exited.then(() => Promise.reject(new Error("no network namespace could be made"))),
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
