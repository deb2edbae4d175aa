// SPDX-License-Identifier: Apache-2.0
/**
 * eve-bridge as a node has it: bundled, and installed by its own installer into a directory of the run. And the stock
 * `bridge` plugin, built by Go.
 * Usage: `const plugin = await installPlugin(directory); runner.run(plugin.version({ file: plugin.launcher, args: [] }))`
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BenchError } from "../harness/bench-error.ts";
import type { Program } from "./cni-program.ts";

const workspace = join(import.meta.dirname, "../../../..");
const app = join(workspace, "apps/eve-bridge");

/** What is measured, and what it weighs. */
export interface InstalledPlugin {
  /** The launcher in the CNI directory. */
  readonly launcher: string;
  /** The bundled program. */
  readonly bundle: string;
  /** Bytes of the program with its code cache, and of all that is installed, Node included. */
  readonly programBytes: number;
  readonly installedBytes: number;
  /** Where a zedrouter is expected. */
  readonly rpcSocket: string;
  /** VERSION, by the program that `start` names. */
  version(start: Pick<Program, "file" | "args">): Program;
  /** ADD of an interface of a virtual machine, which is L2 only; each for a container of its own. */
  add(start: Pick<Program, "file" | "args">): Program;
}

/** Bundles and installs. Throws BenchError `platform`. */
export function installPlugin(directory: string): InstalledPlugin {
  const dist = join(directory, "dist");
  const cni = join(directory, "bin");
  mkdirSync(cni);
  const bundle = join(dist, "eve-bridge.cjs");
  command(process.execPath, [join(app, "bundle.js"), dist]);
  command(process.execPath, [bundle, "install", "--to", cni, "--grace-seconds", "0"]);

  const rpcSocket = join(directory, "rpc.sock");
  const settings = join(directory, "settings.json");
  writeFileSync(
    settings,
    JSON.stringify({ rpcSocket, stateDir: join(directory, "state"), logFile: join(directory, "log") }),
  );
  const [version = ""] = readdirSync(join(cni, ".eve-bridge"));
  const files = filesBelow(join(cni, ".eve-bridge", version));
  const bytesOf = (wanted: (name: string) => boolean) =>
    files.filter(wanted).reduce((sum, file) => sum + statSync(file).size, 0);
  let containers = 0;

  return {
    launcher: join(cni, "eve-bridge"),
    bundle,
    programBytes: bytesOf((file) => /\.(cjs|cache)$/.test(file)),
    installedBytes: bytesOf(() => true),
    rpcSocket,
    version: (start) => ({
      ...start,
      env: { ...process.env, CNI_COMMAND: "VERSION" },
      stdin: '{"cniVersion":"0.3.1"}',
    }),
    add: (start) => ({
      ...start,
      env: {
        ...process.env,
        EVE_BRIDGE_CONFIG: settings,
        CNI_COMMAND: "ADD",
        CNI_CONTAINERID: `bench-${++containers}`,
        CNI_NETNS: directory, // exists; only zedrouter would enter it
        CNI_IFNAME: "net1",
        CNI_PATH: cni,
        CNI_ARGS: "IgnoreUnknown=1;K8S_POD_NAMESPACE=a;K8S_POD_NAME=virt-launcher-a-1-abcde;MAC=02:16:3e:00:00:01",
      },
      stdin: '{"cniVersion":"0.3.1","name":"network-instance-attachment","type":"eve-bridge"}',
    }),
  };
}

/** The stock plugin that is next to ours on every node; undefined, with a word on stderr, without Go. */
export function buildStockBridge(directory: string): string | undefined {
  const file = join(directory, "bridge");
  const source = "github.com/containernetworking/plugins/plugins/main/bridge";
  const args = ["build", "-C", join(workspace, "e2e/eve-bridge/go"), "-trimpath", "-ldflags=-s -w", "-o", file, source];
  const { status, stderr, error } = spawnSync("go", args, { env: { ...process.env, CGO_ENABLED: "0" } });
  if (status === 0) return file;
  process.stderr.write(`the stock bridge plugin cannot be built: ${error?.message ?? stderr.toString().trim()}\n`);
  return undefined;
}

function command(file: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(file, args);
  if (status !== 0)
    throw new BenchError("platform", `${args.join(" ")}: ${error?.message ?? stderr.toString().trim()}`);
}

function filesBelow(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
