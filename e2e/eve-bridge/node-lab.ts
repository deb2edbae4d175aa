// SPDX-License-Identifier: Apache-2.0
/**
 * A node of its own for a test: a network namespace in the place of the host's, pods in further ones, a CNI directory
 * with the stock plugins and eve-bridge, and settings that keep every path inside one directory.
 * Usage: `await using lab = await createNodeLab(); const pod = await lab.createPod(); await lab.call("ADD", pod, conf)`.
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
import { buildGoTools } from "./go-tools.ts";
import { ip, ipBatch, output, run, type RunOptions, type RunOutcome } from "./shell.ts";

/** JSON as these tests write and compare it. */
export type Json = Readonly<Record<string, unknown>>;

/** A pod's sandbox. */
export interface Pod {
  readonly containerId: string;
  /** Name of its network namespace. */
  readonly namespace: string;
  /** CNI_NETNS. */
  readonly netns: string;
  /** CNI_ARGS. */
  readonly args: string;
}

/** What eve-bridge did. */
export interface Answer extends RunOutcome {
  /** What it printed, if that is JSON. */
  readonly json: Json | undefined;
}

/** How to call it, beyond the usual. */
export interface CallOptions extends Omit<RunOptions, "env"> {
  readonly ifName?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Started instead of the launcher; for strace. */
  readonly command?: readonly string[];
}

export interface NodeLab extends AsyncDisposable {
  readonly dir: string;
  /** Name of the namespace that stands for the host's. */
  readonly host: string;
  /** The CNI directory, and the programs of go/. */
  readonly bin: string;
  readonly tools: string;
  /** Node and the bundle, for who starts the program without the launcher. */
  readonly program: readonly string[];
  readonly settings: { readonly [name in "rpcSocket" | "dhcpSocket" | "markerDir" | "stateDir" | "logFile"]: string };
  path(...parts: string[]): string;
  /** The words that start a program in the host's namespace. */
  inHost(...command: readonly string[]): [string, ...string[]];
  createPod(podName?: string, mac?: string): Promise<Pod>;
  createPods(podNames: readonly string[]): Promise<Pod[]>;
  /** Calls eve-bridge as a container runtime does. */
  call(command: string, pod: Pod, conf: Json, options?: CallOptions): Promise<Answer>;
  /** Has `cnitool` call it, for the network of this configuration. */
  cnitool(verb: "add" | "check" | "del" | "gc" | "status", pod: Pod, conf: Json, ifName: string): Promise<RunOutcome>;
  /** The names of the host's interfaces other than lo. */
  hostLinks(): Promise<string[]>;
  /** Files that eve-bridge keeps: records and locks. */
  stateFiles(): string[];
}

const bundleScript = join(__dirname, "../../apps/eve-bridge/bundle.js");
let labs = 0;

/** Makes the namespace and the directories. */
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

/** An interface of a pod, as `ip` sees it; undefined when there is none of the name. */
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

/** The IPv4 routes of a pod, a line each, without the kernel's own words about them. */
export async function podRoutes(pod: Pod): Promise<string[]> {
  const routes = JSON.parse(await ip(`-n ${pod.namespace} -j route show`)) as {
    dst: string;
    gateway?: string;
    dev: string;
  }[];
  return routes.map(({ dst, gateway, dev }) => [dst, ...(gateway ? ["via", gateway] : []), "dev", dev].join(" "));
}

/** The lines of eve-bridge's log. */
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
