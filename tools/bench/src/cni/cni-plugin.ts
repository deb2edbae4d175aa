// SPDX-License-Identifier: Apache-2.0
/**
 * installPlugin bundles eve-bridge and installs it with its own installer, as on a node. buildStockBridge builds the
 * stock `bridge` plugin with Go.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BenchError } from "../harness/run-control.ts";
import type { Program } from "./cni-program.ts";

const workspace = join(import.meta.dirname, "../../../..");
const app = join(workspace, "apps/eve-bridge");

/** The installed plugin and its size. */
export interface InstalledPlugin {
  /** The launcher in the CNI directory. */
  readonly launcher: string;
  /** The bundled program. */
  readonly bundle: string;
  /** Bytes of the program with its code cache. */
  readonly programBytes: number;
  /** Bytes of the whole installation, including Node. */
  readonly installedBytes: number;
  /** Path of the socket on which the plugin expects zedrouter. */
  readonly rpcSocket: string;
  /** VERSION, started as `start` says. */
  version(start: Pick<Program, "file" | "args">): Program;
  /** ADD of a virtual machine's interface, which is L2 only. Each call is for another container. */
  add(start: Pick<Program, "file" | "args">): Program;
}

/** Bundles and installs eve-bridge below `directory`. Throws BenchError `platform`. */
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
        CNI_NETNS: directory, // must exist; only zedrouter would enter it
        CNI_IFNAME: "net1",
        CNI_PATH: cni,
        CNI_ARGS: "IgnoreUnknown=1;K8S_POD_NAMESPACE=a;K8S_POD_NAME=virt-launcher-a-1-abcde;MAC=02:16:3e:00:00:01",
      },
      stdin: '{"cniVersion":"0.3.1","name":"network-instance-attachment","type":"eve-bridge"}',
    }),
  };
}

/** Builds the stock plugin; undefined, with a message on stderr, if Go is missing. */
export function buildStockBridge(directory: string): string | undefined {
  const file = join(directory, "bridge");
  const source = "github.com/containernetworking/plugins/plugins/main/bridge";
  const args = ["build", "-C", join(workspace, "e2e/eve-bridge/go"), "-trimpath", "-ldflags=-s -w", "-o", file, source];
  const { status, stderr, error } = spawnSync("go", args, { env: { ...process.env, CGO_ENABLED: "0" } });
  if (status === 0) return file;
  process.stderr.write(
    `cannot build the stock bridge plugin, so it is not measured: ${error?.message ?? stderr.toString().trim()}\n`,
  );
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
