// SPDX-License-Identifier: Apache-2.0
/**
 * createNodeLab creates a node for one test. It has a network namespace that replaces the host's, further ones for
 * pods, a CNI directory with the stock plugins and eve-bridge, and settings that keep every path inside one directory.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildGoTools } from "./lab-support.ts";
import { ip, ipBatch, output, run, type RunOptions, type RunOutcome } from "./shell.ts";

/** JSON objects that the tests write and compare. */
export type Json = Readonly<Record<string, unknown>>;

/** The sandbox of a pod. */
export interface Pod {
  readonly containerId: string;
  /** Name of its network namespace. */
  readonly namespace: string;
  /** Value of CNI_NETNS. */
  readonly netns: string;
  /** Value of CNI_ARGS. */
  readonly args: string;
}

/** The result of a call of eve-bridge. */
export interface Answer extends RunOutcome {
  /** The output of eve-bridge; undefined if it is not JSON. */
  readonly json: Json | undefined;
}

/** Changes to a usual call. */
export interface CallOptions extends Omit<RunOptions, "env"> {
  readonly ifName?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** The command to start instead of the launcher, for strace. */
  readonly command?: readonly string[];
}

export interface NodeLab extends AsyncDisposable {
  readonly dir: string;
  /** Name of the namespace that replaces the host's. */
  readonly host: string;
  /** The CNI directory, which also contains the programs of go/. */
  readonly bin: string;
  readonly tools: string;
  /** The paths of Node and the bundle, to start the program without the launcher. */
  readonly program: readonly string[];
  readonly settings: { readonly [name in "rpcSocket" | "dhcpSocket" | "markerDir" | "stateDir" | "logFile"]: string };
  path(...parts: string[]): string;
  /** Returns the command line that starts a program in the host's namespace. */
  inHost(...command: readonly string[]): [string, ...string[]];
  createPod(podName?: string, mac?: string): Promise<Pod>;
  createPods(podNames: readonly string[]): Promise<Pod[]>;
  /** Calls eve-bridge as a container runtime does. */
  call(command: string, pod: Pod, conf: Json, options?: CallOptions): Promise<Answer>;
  /** Runs a command of eve-bridge for people. */
  tool(...args: readonly string[]): Promise<RunOutcome>;
  /** Runs `cnitool`, which calls eve-bridge for the network of this configuration. */
  cnitool(verb: "add" | "check" | "del" | "gc" | "status", pod: Pod, conf: Json, ifName: string): Promise<RunOutcome>;
  /** Returns the names of the host's interfaces except lo. */
  hostLinks(): Promise<string[]>;
  /** Returns the names of eve-bridge's files: records and locks. */
  stateFiles(): string[];
}

const bundleScript = join(__dirname, "../../apps/eve-bridge/bundle.js");
let labs = 0;

/** Creates the namespace and the directories. */
export async function createNodeLab(): Promise<NodeLab> {
  const tools = await buildGoTools();
  const dir = mkdtempSync(join(tmpdir(), "ebl-"));
  const id = `${process.pid}-${++labs}`;
  const host = `ebh-${id}`;
  const path = (...parts: string[]) => join(dir, ...parts);
  await output(process.execPath, [bundleScript, path("dist")]);
  const program = [process.execPath, path("dist/eve-bridge.cjs")];
  const settings = {
    rpcSocket: path("rpc.sock"),
    dhcpSocket: path("dhcp.sock"),
    markerDir: path("markers"),
    stateDir: path("state"),
    logFile: path("log/eve-bridge.log"),
  };
  writeFileSync(path("settings.json"), JSON.stringify(settings));
  const bin = path("bin");
  mkdirSync(bin);
  for (const plugin of ["bridge", "host-local", "dhcp"]) symlinkSync(join(tools, plugin), join(bin, plugin));
  writeFileSync(join(bin, "eve-bridge"), `#!/bin/sh\nexec ${program.join(" ")}\n`);
  chmodSync(join(bin, "eve-bridge"), 0o755);

  const namespaces = [host];
  await ipBatch([`netns add ${host}`]);
  await ip(`-n ${host} link set lo up`);

  const inHost = (...command: readonly string[]): [string, ...string[]] => [
    "nsenter",
    `--net=/run/netns/${host}`,
    ...command,
  ];
  const environment = { ...process.env, EVE_BRIDGE_CONFIG: path("settings.json"), CNI_PATH: bin };

  async function createPods(podNames: readonly string[], mac?: string): Promise<Pod[]> {
    const pods = podNames.map((podName) => {
      const number = namespaces.length;
      const namespace = `ebp-${id}-${number}`;
      namespaces.push(namespace);
      const own = mac ?? `02:16:3e:00:${hex(number >> 8)}:${hex(number)}`;
      return {
        containerId: `container-${id}-${number}`,
        namespace,
        netns: `/var/run/netns/${namespace}`,
        args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=eve-kube-app;K8S_POD_NAME=${podName};MAC=${own}`,
      };
    });
    await ipBatch(pods.map(({ namespace }) => `netns add ${namespace}`));
    return pods;
  }

  return {
    dir,
    host,
    bin,
    tools,
    program,
    settings,
    path,
    inHost,
    createPods,
    async createPod(podName = "app-1-abcde", mac) {
      const [pod] = await createPods([podName], mac);
      if (pod === undefined) throw new Error("no pod");
      return pod;
    },
    async call(command, pod, conf, { ifName = "net1", env = {}, command: start, ...options } = {}) {
      const [file, ...args] = inHost(...(start ?? [join(bin, "eve-bridge")]));
      const outcome = await run(file, args, {
        stdin: JSON.stringify(conf),
        ...options,
        env: {
          ...environment,
          CNI_COMMAND: command,
          CNI_CONTAINERID: pod.containerId,
          CNI_NETNS: pod.netns,
          CNI_IFNAME: ifName,
          CNI_ARGS: pod.args,
          ...env,
        },
      });
      return { ...outcome, json: jsonIn(outcome.stdout) };
    },
    async tool(...args) {
      const [file, ...words] = inHost(...program, ...args);
      return run(file, words, { env: environment });
    },
    async cnitool(verb, pod, conf, ifName) {
      const confDir = path("net.d");
      mkdirSync(confDir, { recursive: true });
      writeFileSync(join(confDir, "net.conf"), JSON.stringify(conf));
      const [file, ...args] = inHost(join(tools, "cnitool"), verb, String(conf["name"]), pod.netns);
      return run(file, args, { env: { ...environment, NETCONFPATH: confDir, CNI_IFNAME: ifName, CNI_ARGS: pod.args } });
    },
    async hostLinks() {
      const links = JSON.parse(await ip(`-n ${host} -j link show`)) as { ifname: string }[];
      return links.map(({ ifname }) => ifname).filter((name) => name !== "lo");
    },
    stateFiles() {
      return ["attachments", "locks"].flatMap((name) =>
        existsSync(join(settings.stateDir, name)) ? readdirSync(join(settings.stateDir, name)) : [],
      );
    },
    async [Symbol.asyncDispose]() {
      await run("ip", ["-force", "-batch", "-"], { stdin: namespaces.map((name) => `netns del ${name}\n`).join("") });
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Returns an interface of a pod, as `ip` reports it; undefined if the interface does not exist. */
export async function podLink(
  pod: Pod,
  name: string,
): Promise<{ mac: string; up: boolean; addresses: string[] } | undefined> {
  const links = JSON.parse(await ip(`-n ${pod.namespace} -j address show`)) as {
    ifname: string;
    address: string;
    flags: string[];
    addr_info: { family: string; local: string; prefixlen: number }[];
  }[];
  const link = links.find(({ ifname }) => ifname === name);
  if (link === undefined) return undefined;
  const addresses = link.addr_info
    .filter(({ family }) => family === "inet")
    .map(({ local, prefixlen }) => `${local}/${prefixlen}`);
  return { mac: link.address, up: link.flags.includes("UP"), addresses };
}

/** Returns the IPv4 routes of a pod, one line each, without the attributes that the kernel adds. */
export async function podRoutes(pod: Pod): Promise<string[]> {
  const routes = JSON.parse(await ip(`-n ${pod.namespace} -j route show`)) as {
    dst: string;
    gateway?: string;
    dev: string;
  }[];
  return routes.map(({ dst, gateway, dev }) => [dst, ...(gateway ? ["via", gateway] : []), "dev", dev].join(" "));
}

/** Returns the lines of eve-bridge's log. */
export function logLines(lab: NodeLab): Json[] {
  const text = existsSync(lab.settings.logFile) ? readFileSync(lab.settings.logFile, "utf8").trim() : "";
  return text === "" ? [] : text.split("\n").map((line) => JSON.parse(line) as Json);
}

function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function hex(number: number): string {
  return (number & 0xff).toString(16).padStart(2, "0");
}
