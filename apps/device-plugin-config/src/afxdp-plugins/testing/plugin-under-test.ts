// SPDX-License-Identifier: Apache-2.0
/** startPlugin runs the program that plays the device plugin, in the loop by which its container restarts it. */
import { spawn } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface PluginUnderTest extends AsyncDisposable {
  /** The value for --plugin-process. No other process on this machine has this name. */
  readonly name: string;
  /** What it has printed in all its runs. */
  readonly lines: () => readonly string[];
  /** Number of its starts, as far as it has read a configuration that it accepts. */
  readonly starts: () => number;
  /** Puts an interface on the host, or takes it away: it is in a pod. */
  setInterface(name: string, isOnHost: boolean): Promise<void>;
}

export interface PluginOptions {
  /** Has the directories kubelet and interfaces. */
  readonly directory: string;
  readonly configFile: string;
  readonly kernelRelease?: string;
}

let count = 0;

export async function startPlugin({ directory, configFile, kernelRelease }: PluginOptions): Promise<PluginUnderTest> {
  const interfaces = join(directory, "interfaces");
  await mkdir(interfaces, { recursive: true });
  await mkdir(join(directory, "kubelet/device-plugins"), { recursive: true });
  const name = `adp-${process.pid}-${++count}`.slice(0, 15);
  const program = new URL("fake-afxdp-dp.ts", `file://${import.meta.dirname}/`).pathname;
  const args = [program, name, configFile, join(directory, "kubelet"), interfaces];
  const loop = `trap 'kill $! 2>/dev/null; wait $!; exit' TERM; while :; do "$@" & wait $!; sleep 0.05; done`;
  const shell = spawn(
    "/bin/sh",
    ["-c", loop, "sh", process.execPath, ...args, ...(kernelRelease ? [kernelRelease] : [])],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let printed = "";
  shell.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  const ended = new Promise((resolve) => shell.once("exit", resolve));
  const lines = (): readonly string[] => printed.split("\n").filter((line) => line !== "");
  return {
    name,
    lines,
    starts: () => lines().filter((line) => line.startsWith("Found ")).length,
    async setInterface(device, isOnHost) {
      if (isOnHost) await writeFile(join(interfaces, device), "");
      else await rm(join(interfaces, device));
    },
    async [Symbol.asyncDispose]() {
      shell.kill("SIGTERM");
      await ended;
    },
  };
}
