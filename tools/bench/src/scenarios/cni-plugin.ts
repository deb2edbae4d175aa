// SPDX-License-Identifier: Apache-2.0
/**
 * installPlugin bundles eve-bridge and installs it with its own installer, as on a node. The other functions make what it is
 * measured with: the stock `bridge` plugin, other ways to start it, and a fake zedrouter.
 */
import { findWorkspaceRoot, outputOf, writeToStderr } from "@switchyard/testing";
import { buildSync } from "esbuild";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { Program } from "../harness/short-programs.ts";

/** A program that is started in every round. */
export interface Subject {
  readonly title: string;
  readonly program: () => Program;
  /**
   * A form of the program that waits for its input while its memory is read. Absent if it never waits, and if it calls zedrouter,
   * which reads its memory.
   */
  readonly waiting?: () => Program;
}

type Start = Pick<Program, "file" | "args">;

/** The installed plugin and its size. */
export type Plugin = Awaited<ReturnType<typeof installPlugin>>;

/** Bundles and installs eve-bridge below `directory`. Rejects with TestingError `program`. */
export async function installPlugin(directory: string) {
  const dist = join(directory, "dist");
  const cni = join(directory, "bin");
  mkdirSync(cni);
  const bundle = join(dist, "eve-bridge.cjs");
  await outputOf(process.execPath, [join(findWorkspaceRoot(), "apps/eve-bridge/bundle.js"), dist]);
  await outputOf(process.execPath, [bundle, "install", "--to", cni, "--grace-seconds", "0"]);

  const rpcSocket = join(directory, "rpc.sock");
  const settings = join(directory, "settings.json");
  const stateDir = join(directory, "state");
  writeFileSync(settings, JSON.stringify({ rpcSocket, stateDir, logFile: join(directory, "log") }));
  const entries = readdirSync(join(cni, ".eve-bridge"), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const bytesOf = (some: readonly string[]) => some.reduce((sum, file) => sum + statSync(file).size, 0);
  let containers = 0;

  return {
    /** How the plugin is started in the CNI directory. */
    launcher: { file: join(cni, "eve-bridge"), args: [] },
    /** Path of the bundled program. */
    bundle,
    /** Bytes of the program with its code cache, and of the whole installation, including Node. */
    programBytes: bytesOf(files.filter((file) => /\.(cjs|cache)$/.test(file))),
    installedBytes: bytesOf(files),
    /** Path of the socket on which the plugin expects zedrouter. */
    rpcSocket,
    /** VERSION, started as `start` says. */
    version: (start: Start): Program => ({
      ...start,
      env: { ...process.env, CNI_COMMAND: "VERSION" },
      stdin: '{"cniVersion":"0.3.1"}',
    }),
    /** ADD of a virtual machine's interface, which is L2 only. Each call is for another container. */
    add: (start: Start): Program => ({
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
export async function buildStockBridge(directory: string): Promise<string | undefined> {
  const file = join(directory, "bridge");
  const module = join(findWorkspaceRoot(), "e2e/eve-bridge/go");
  const source = "github.com/containernetworking/plugins/plugins/main/bridge";
  const args = ["build", "-C", module, "-trimpath", "-ldflags=-s -w", "-o", file, source];
  try {
    await outputOf("go", args, { env: { CGO_ENABLED: "0" } });
    return file;
  } catch (error) {
    writeToStderr(`cannot build the stock bridge plugin, so it is not measured: ${String(error)}`);
    return undefined;
  }
}

/** Prepares the other ways to start eve-bridge that docs/decisions/010-eve-bridge-launcher.md compares, below `directory`. */
export async function formsOf(plugin: Plugin, directory: string): Promise<readonly Subject[]> {
  const file = process.execPath;
  const bundle = { file, args: [plugin.bundle] };
  const cache = { NODE_COMPILE_CACHE: join(directory, "compile-cache") };
  const form = (title: string, start: Start, variables: NodeJS.ProcessEnv = {}): readonly Subject[] => {
    const started = (program: Program) => ({ ...program, env: { ...program.env, ...variables } });
    return [
      { title: `${title}: VERSION`, program: () => started(plugin.version(start)) },
      { title: `${title}: ADD`, program: () => started(plugin.add(start)) },
    ];
  };
  const echo = await snapshot(directory);
  return [
    ...form("bundle, no cache", bundle),
    ...form("bundle, Node's compile cache", bundle, cache),
    ...form("bundle as an ES module", { file, args: [asModule(directory)] }),
    { title: "snapshot of a program that echoes: VERSION", program: () => echo }, // which is already too slow
  ];
}

function asModule(directory: string): string {
  const outfile = join(directory, "module/eve-bridge.mjs");
  const entry = join(findWorkspaceRoot(), "apps/eve-bridge/src/main.ts");
  const options = { bundle: true, minify: true, platform: "node", format: "esm", target: "node24" } as const;
  buildSync({ ...options, entryPoints: [entry], outfile });
  return outfile;
}

/** The lower bound for snapshots: a program that contains nothing of the plugin. */
async function snapshot(directory: string): Promise<Program> {
  const home = join(directory, "snapshot");
  mkdirSync(home);
  const [entry, blob] = [join(home, "entry.cjs"), join(home, "snapshot.blob")];
  writeFileSync(
    entry,
    `const fs = require("node:fs");
    require("node:net");
    require("node:v8").startupSnapshot.setDeserializeMainFunction(() => fs.writeSync(1, fs.readFileSync("/dev/stdin")));`,
  );
  await outputOf(process.execPath, ["--snapshot-blob", blob, "--build-snapshot", entry]);
  return { file: "/bin/sh", args: ["-c", `cat | ${process.execPath} --snapshot-blob ${blob}`], stdin: "{}" };
}

/** A fake zedrouter that accepts every request and creates nothing. Its time is subtracted from that of an ADD. */
export interface Zedrouter extends AsyncDisposable {
  /** The milliseconds between requests and their answers since the last call of takeMs. */
  takeMs(): number;
  /** Called before each answer. */
  onRequest: () => void;
}

interface Request {
  readonly id: number;
  readonly params: readonly [{ readonly PodInterface: { readonly Name: string; readonly MAC: string | null } }];
}

/** Starts a server on the Unix socket `path`. */
export async function startZedrouter(path: string): Promise<Zedrouter> {
  const sockets = new Set<Socket>();
  let spentMs = 0;
  const self: Zedrouter = {
    onRequest: () => undefined,
    takeMs() {
      const taken = spentMs;
      spentMs = 0;
      return taken;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
    socket.setEncoding("utf8").on("data", (line: string) => {
      const startMs = performance.now();
      self.onRequest();
      // One request per line: the plugin waits for each answer before it sends the next request.
      const { id, params } = JSON.parse(line) as Request;
      const [{ PodInterface: podInterface }] = params;
      const result = { AppUUID: "", UseDHCP: true, UsedDHCP: true, Interfaces: [{ ...podInterface, NetNsPath: "/" }] };
      socket.write(`${JSON.stringify({ id, result, error: null })}\n`);
      spentMs += performance.now() - startMs;
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  return self;
}
