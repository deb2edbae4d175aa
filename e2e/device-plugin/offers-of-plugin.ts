// SPDX-License-Identifier: Apache-2.0
/**
 * offersOfPlugin runs the real device plugin on this machine with a fake sysfs and the fake kubelet, and returns the
 * devices that the kubelet could give to pods.
 */
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { writePciIds } from "./run-plugin.ts";

export interface OfferedRun {
  /** Directory of the programs (build-plugin.ts). */
  readonly bin: string;
  /** Directory for the files of the run. */
  readonly directory: string;
  /** Root of the fake sysfs (fake-sysfs.ts). */
  readonly sys: string;
  readonly config: string;
  /** Number of resources in the configuration that have devices. */
  readonly resources: number;
}

/** Returns the devices by resource. Rejects with the log if the plugin ends first. Needs namespaces (missingForPods). */
export async function offersOfPlugin(run: OfferedRun): Promise<Readonly<Record<string, readonly string[]>>> {
  const file = join(run.directory, "config.json");
  await writeFile(file, run.config);
  await writePciIds(run.directory);
  const sockets = "/var/lib/kubelet/device-plugins";
  const plugin = `${run.bin}/sriovdp -logtostderr -v 10 -config-file ${file} -resource-prefix openshift.io`;
  const script = [
    `mount -t tmpfs none /var/lib && mkdir -p ${sockets} && mount --bind ${run.sys} /sys || exit`,
    `${run.bin}/kubelet ${sockets} & until [ -S ${sockets}/kubelet.sock ]; do sleep 0.05; done; exec ${plugin}`,
  ].join("\n");
  const asRoot = process.getuid?.() === 0 ? [] : ["--map-root-user"];
  const flags = [...asRoot, "--mount", "--net", "--pid", "--fork", "--kill-child"];
  const child = spawn("unshare", [...flags, "sh", "-c", script], {
    env: { ...process.env, HOME: run.directory },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  const offered: Record<string, readonly string[]> = {};
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { resource, devices = [] } = JSON.parse(line) as { resource: string; devices?: readonly string[] };
    offered[resource.replace("openshift.io/", "")] ??= devices;
    if (Object.keys(offered).length === run.resources) child.kill("SIGKILL");
  });
  const ending = await new Promise<string>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      resolve(signal ?? `exit code ${code}`);
    });
  });
  if (Object.keys(offered).length < run.resources) throw new Error(`the plugin ended (${ending}): ${log}`);
  return offered;
}
