// SPDX-License-Identifier: Apache-2.0
/**
 * addChain and deleteChain run the plugins of a CNI chain for one interface of a pod (CNI 1.1.0, section 3, "Execution of Network
 * Configurations").
 */
import { runBelowRoot } from "@switchyard/host";
import { isErrno } from "@switchyard/service";
import { parseObject, pluginInput, type CniChain, type JsonObject } from "./cni-chain.ts";

/** One run of a plugin. No text in it reaches the program unchecked. */
export interface PluginRun {
  readonly plugin: string;
  readonly env: Readonly<Record<string, string>>;
  /** The configuration for its standard input. */
  readonly input: string;
}

/** Resolves with what the plugin printed. Rejects with the plugin's error, as a sentence. */
export type RunPlugin = (run: PluginRun, signal: AbortSignal) => Promise<string>;

/** The interface that a chain adds or deletes. */
export interface ChainTarget {
  readonly sandbox: string;
  /** Path of the network namespace; "" if it is gone. */
  readonly networkNamespace: string;
  readonly ifName: string;
  readonly pciAddress: string;
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string };
}

export interface PluginRunnerOptions {
  /** "/" or "/host", where plugins run by chroot. */
  readonly hostRoot: string;
  /** Directory of the plugins on the host. */
  readonly binDirectory: string;
}

/** A plugin is also ended by the signal; this is for those of the signal that never aborts. */
const pluginTimeoutMs = 60_000;
const maxWords = 500;

export function createPluginRunner({ hostRoot, binDirectory }: PluginRunnerOptions): RunPlugin {
  return async ({ plugin, env, input }, signal) => {
    const what = `CNI plugin ${plugin}: ${env["CNI_COMMAND"] ?? ""} ${env["CNI_IFNAME"] ?? ""}`;
    const all = { ...env, CNI_PATH: binDirectory };
    const end = await runBelowRoot(hostRoot, [`${binDirectory}/${plugin}`], {
      timeoutMs: pluginTimeoutMs,
      env: all,
      input,
      signal,
    }).catch((error: unknown) => {
      if (isErrno(error, "ENOENT") && hostRoot === "/")
        throw new Error(`${what}: there is no such program in ${binDirectory}`);
      throw error;
    });
    if (end === undefined) throw new Error(`${what}: did not end in time`);
    if (end.code === 0) return end.stdout;
    if (end.code === 127 && hostRoot !== "/") throw new Error(`${what}: there is no such program in ${binDirectory}`);
    const own = parseObject(end.stdout);
    const words =
      own === undefined
        ? end.stderr.trim() || end.stdout.trim()
        : [own["msg"], own["details"]].filter(isText).join(": ");
    throw new Error(`${what}: ${words.slice(0, maxWords) || `failed with exit code ${end.code ?? "none"}`}`);
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Adds the interface, and returns the result of the last plugin. Rejects with the error of the plugin that failed. */
export async function addChain(
  run: RunPlugin,
  chain: CniChain,
  target: ChainTarget,
  signal: AbortSignal,
): Promise<JsonObject> {
  let previous: JsonObject | undefined;
  for (const [index, { type: plugin }] of chain.plugins.entries()) {
    signal.throwIfAborted();
    const input = pluginInput(chain, index, { pciAddress: target.pciAddress, previous });
    const printed = await run({ plugin, env: environment("ADD", target), input }, signal);
    const result = parseObject(printed);
    if (result === undefined) throw new Error(`CNI plugin ${plugin}: ADD ${target.ifName}: printed no JSON object`);
    previous = result;
  }
  return previous ?? {};
}

/** Deletes the interface. All plugins run, in the reverse order, also after one has failed; then rejects with the first error. */
export async function deleteChain(
  run: RunPlugin,
  chain: CniChain,
  { result, ...target }: ChainTarget & { readonly result?: JsonObject | undefined },
  signal: AbortSignal,
): Promise<void> {
  const errors: unknown[] = [];
  for (const [index, { type: plugin }] of [...chain.plugins.entries()].reverse()) {
    const input = pluginInput(chain, index, { pciAddress: target.pciAddress, previous: result });
    await run({ plugin, env: environment("DEL", target), input }, signal).catch((error: unknown) => errors.push(error));
  }
  if (errors.length > 0) throw errors[0];
}

function environment(command: "ADD" | "DEL", { sandbox, networkNamespace, ifName, pod }: ChainTarget) {
  const args = {
    IgnoreUnknown: "1",
    K8S_POD_NAMESPACE: pod.namespace,
    K8S_POD_NAME: pod.name,
    K8S_POD_INFRA_CONTAINER_ID: sandbox,
    K8S_POD_UID: pod.uid,
  };
  return {
    CNI_COMMAND: command,
    CNI_CONTAINERID: sandbox,
    CNI_NETNS: networkNamespace,
    CNI_IFNAME: ifName,
    CNI_ARGS: Object.entries(args)
      .map(([key, value]) => `${key}=${value}`)
      .join(";"),
  };
}
