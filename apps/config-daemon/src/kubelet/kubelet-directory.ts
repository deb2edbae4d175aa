// SPDX-License-Identifier: Apache-2.0
/**
 * findKubeletDirectory returns the directory of the kubelet on a host, which its argument --root-dir sets. It reads the arguments of the
 * processes below /proc of the host.
 */
import { isErrno } from "@switchyard/service";
import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";

const defaultKubeletDirectory = "/var/lib/kubelet";

/** Names of the programs that are, or contain, a kubelet. */
const kubelets: ReadonlySet<string> = new Set([
  "kubelet",
  "hyperkube",
  "k3s",
  "k3s-agent",
  "k3s-server",
  "rke2",
  "microk8s",
]);

/** Returns the default if no kubelet runs, or if it has no such argument. */
export async function findKubeletDirectory(hostRoot: string): Promise<string> {
  for (const pid of await numbersIn(join(hostRoot, "proc"))) {
    const name = (await readProcess(hostRoot, pid, "comm")).trim();
    if (!kubelets.has(name)) continue;
    const directory = rootDirOf((await readProcess(hostRoot, pid, "cmdline")).split("\0"));
    if (directory !== undefined) return directory;
  }
  return defaultKubeletDirectory;
}

/** "--root-dir=/data/kubelet", "--root-dir" and "/data/kubelet", or "--kubelet-arg=root-dir=/data/kubelet" of k3s and rke2. */
function rootDirOf(args: readonly string[]): string | undefined {
  for (const [nth, arg] of args.entries()) {
    const [, inline] = /^(?:--?root-dir|--kubelet-arg=(?:--)?root-dir|(?:--)?root-dir)=(.+)$/.exec(arg) ?? [];
    const directory = inline ?? (/^--?root-dir$/.test(arg) ? args[nth + 1] : undefined);
    if (directory !== undefined && posix.isAbsolute(directory))
      return posix.normalize(directory).replace(/(?<=.)\/$/, "");
  }
  return undefined;
}

async function numbersIn(directory: string): Promise<readonly string[]> {
  try {
    return (await readdir(directory)).filter((name) => /^\d+$/.test(name));
  } catch (error) {
    if (isErrno(error)) return [];
    throw error;
  }
}

/** Returns "" for a process that has ended. */
async function readProcess(hostRoot: string, pid: string, file: "comm" | "cmdline"): Promise<string> {
  try {
    return await readFile(join(hostRoot, "proc", pid, file), "utf8");
  } catch (error) {
    if (isErrno(error)) return "";
    throw error;
  }
}
