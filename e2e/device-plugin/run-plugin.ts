// SPDX-License-Identifier: Apache-2.0
/**
 * runPlugin runs the real device plugin on this machine, with its own kubelet directory, network and home directory.
 * The plugin finds none of the VFs in its configuration, but it parses the configuration and logs the result.
 */
import { buildGoPrograms } from "@switchyard/go-programs";
import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface PluginRun {
  /** Whether the plugin accepted the configuration. If not, it exited by itself. */
  readonly isTaken: boolean;
  readonly log: string;
}

/** Runs the plugin; `directory` gets its files. Needs root to create namespaces. */
export async function runPlugin(bin: string, directory: string, config: string): Promise<PluginRun> {
  const file = join(directory, "config.json");
  await writeFile(file, config);
  await writePciIds(directory);
  const plugin = `exec ${bin}/sriovdp -logtostderr -v 10 -config-file ${file} -resource-prefix openshift.io`;
  const script = `mount -t tmpfs none /var/lib && mkdir -p /var/lib/kubelet/device-plugins && ${plugin}`;
  const child = spawn("unshare", ["--mount", "--net", "sh", "-c", script], {
    env: { ...process.env, HOME: directory },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  let isListening = false;
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
    if (isListening || !log.includes("Listening for term signals")) return;
    isListening = true;
    child.kill("SIGKILL");
  });
  await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { isTaken: isListening, log };
}

/** Writes a short list of PCI ids. Without the file, the plugin would download the list. */
export async function writePciIds(home: string): Promise<void> {
  await mkdir(join(home, ".cache"), { recursive: true });
  const ids = [
    "8086  Intel Corporation",
    "\t10ca  82576 Virtual Function",
    "C 02  Network controller",
    "\t00  Ethernet",
  ];
  await writeFile(join(home, ".cache/pci.ids"), `${ids.join("\n")}\n`);
}

/**
 * buildPlugin builds the programs of go/: the real device plugin, `sriovdp`, in the version for which upstream's
 * operator is made, and the fake `kubelet`.
 * Returns the directory of the programs. Rejects if Go is missing or cannot build them.
 */
export function buildPlugin(): Promise<string> {
  const sources = join(__dirname, "go");
  return buildGoPrograms({ sources, cacheName: "device-plugin", title: "the device plugin" });
}
