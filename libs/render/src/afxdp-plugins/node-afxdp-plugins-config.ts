// SPDX-License-Identifier: Apache-2.0
/**
 * nodeAfxdpPluginsConfig renders the configuration of the device plugin of afxdp-plugins-for-kubernetes for one node, from the
 * AfxdpNetworkNodeState of that node (eve-and-afxdp.md b1). The plugin ends at the first thing that it refuses, and then no pool
 * is offered. Therefore a pool or device that it would refuse is left out, and a problem says why.
 * Usage: `const { config, problems } = nodeAfxdpPluginsConfig(state, { verbosity: 1 });`
 */
import {
  afxdpResourcePrefix,
  type AfxdpInterfaceSpec,
  type AfxdpInterfaceStatus,
  type AfxdpNetworkNodeState,
  type AfxdpPoolSpec,
} from "@switchyard/api";
import { compareText, upstreamDeviceProblem, upstreamPoolProblems } from "@switchyard/policy";
import { afxdpPluginsLogLevel, type AfxdpPluginsConfig, type AfxdpPluginsPool } from "./afxdp-plugins-config.ts";
import { kernelReleaseProblem, poolValueProblems } from "./plugin-problems.ts";

/** What is known beyond the node state. What is absent is not checked. */
export interface AfxdpPluginsSettings {
  /** spec.logLevel of the AfxdpOperatorConfig. */
  readonly verbosity?: number | undefined;
  /** Output of `uname -r`. */
  readonly kernelRelease?: string | undefined;
  /** Value of the kernel parameter kernel.unprivileged_bpf_disabled. */
  readonly unprivilegedBpfDisabled?: string | undefined;
  /** The last known names of devices, by their keys: a device in a pod has no name on the host. */
  readonly knownNames?: ReadonlyMap<string, string>;
}

/** A device of a pool in the configuration. */
export interface AfxdpPluginsDevice {
  readonly poolName: string;
  /** PCI address; the name for devices that are not on the PCI bus. */
  readonly key: string;
  /** Name in the network namespace of the host. */
  readonly name: string;
  /** False while the device is in a pod, or is missing. */
  readonly isOnHost: boolean;
}

/** Why a pool is not offered, or not completely. */
export interface AfxdpPluginsProblem {
  readonly poolName: string;
  /** What is wrong and what to do. Does not name the pool. */
  readonly message: string;
}

export interface RenderedAfxdpPlugins {
  readonly config: AfxdpPluginsConfig;
  /** In the order of the configuration. */
  readonly devices: readonly AfxdpPluginsDevice[];
  /** Sorted by pool. */
  readonly problems: readonly AfxdpPluginsProblem[];
}

type State = Pick<AfxdpNetworkNodeState, "spec" | "status">;

/** Does not depend on the order of pools and interfaces. */
export function nodeAfxdpPluginsConfig(state: State, facts: AfxdpPluginsSettings = {}): RenderedAfxdpPlugins {
  const taken = new Map<string, string>();
  const pools: AfxdpPluginsPool[] = [];
  const devices: AfxdpPluginsDevice[] = [];
  const problems: AfxdpPluginsProblem[] = [];
  const sorted = (state.spec?.pools ?? []).toSorted((a, b) => compareText(a.name, b.name));
  const kernel = facts.kernelRelease === undefined ? undefined : kernelReleaseProblem(facts.kernelRelease);
  for (const [index, pool] of sorted.entries()) {
    const report = (message: string): void => {
      problems.push({ poolName: pool.name, message });
    };
    const refused = [...poolProblems(pool, sorted.slice(0, index), facts), ...(kernel === undefined ? [] : [kernel])];
    refused.forEach(report);
    if (refused.length > 0) continue;
    const own = devicesOf(pool, state, { facts, taken, report });
    devices.push(...own);
    if (own.length > 0) pools.push(poolOf(pool, own));
  }
  return { config: { logLevel: afxdpPluginsLogLevel(facts.verbosity), pools }, devices, problems };
}

function poolProblems(
  pool: AfxdpPoolSpec,
  before: readonly AfxdpPoolSpec[],
  { unprivilegedBpfDisabled = "0" }: AfxdpPluginsSettings,
): readonly string[] {
  const problems = [...poolValueProblems(pool)];
  const same = before.find(({ name }) => name.toUpperCase() === pool.name.toUpperCase());
  if (same !== undefined) {
    problems.push(`pool ${same.name} has the same name in capital letters, which name the variable in pods`);
  }
  // The values, such as uid, are checked above, by the rules of the plugin.
  const ofPlugin = upstreamPoolProblems(pool).filter(({ field }) => field !== "uid");
  problems.push(...ofPlugin.map(({ field, message }) => `${field} ${message}`));
  if (pool.requiresUnprivilegedBpf === true && unprivilegedBpfDisabled !== "0") {
    problems.push(
      "requiresUnprivilegedBpf is true, but kernel.unprivileged_bpf_disabled of the node is " +
        `"${unprivilegedBpfDisabled}": set it to 0, or requiresUnprivilegedBpf to false`,
    );
  }
  return problems;
}

interface DeviceContext {
  readonly facts: AfxdpPluginsSettings;
  /** Pools by the names of their devices. */
  readonly taken: Map<string, string>;
  readonly report: (message: string) => void;
}

function devicesOf(
  pool: AfxdpPoolSpec,
  { spec, status }: State,
  { facts, taken, report }: DeviceContext,
): readonly AfxdpPluginsDevice[] {
  const devices: AfxdpPluginsDevice[] = [];
  const wanted = (spec?.interfaces ?? [])
    .filter(({ poolName, mode }) => poolName === pool.name && mode === pool.mode)
    .toSorted((a, b) => compareText(keyOf(a), keyOf(b)));
  for (const one of wanted) {
    const key = keyOf(one);
    const observed = (status?.interfaces ?? []).find((row) => keyOf(row) === key);
    const name = nameOf(one, observed, facts);
    const resource = `${afxdpResourcePrefix}/${pool.name}`;
    if (name === undefined) {
      report(`device ${key} has no name on the host that is known, so ${resource} does not offer it`);
      continue;
    }
    const owner = taken.get(name);
    const problem =
      upstreamDeviceProblem({ ...observed, name }) ??
      (owner === undefined ? undefined : `a device ${name} is already in pool ${owner}`);
    if (problem !== undefined) {
      report(`device ${key}: ${problem}`);
      continue;
    }
    taken.set(name, pool.name);
    devices.push({ poolName: pool.name, key, name, isOnHost: observed !== undefined && isOnHost(observed) });
  }
  return devices.toSorted((a, b) => compareText(a.name, b.name));
}

function keyOf({ pciAddress, name }: Pick<AfxdpInterfaceSpec, "pciAddress" | "name">): string {
  return pciAddress ? pciAddress : (name ?? "");
}

/** The name now or, while the device is in a pod, its last known name: what the plugin has announced stays announced. */
function nameOf(
  wanted: AfxdpInterfaceSpec,
  observed: AfxdpInterfaceStatus | undefined,
  { knownNames }: AfxdpPluginsSettings,
): string | undefined {
  const names = [observed?.name, knownNames?.get(keyOf(wanted)), observed?.recordedNames?.[0], wanted.name];
  return names.find((name) => name !== undefined && name !== "");
}

/** A device without a PCI address keeps its name in the status while it is in a pod, but no other field of its link. */
function isOnHost({ pciAddress, name, linkAdminState }: AfxdpInterfaceStatus): boolean {
  return Boolean(name) && (Boolean(pciAddress) || linkAdminState !== undefined);
}

/** The plugin unloads the program of the socket when it pins a map, so a pool with both has the pinned map only. */
function poolOf(pool: AfxdpPoolSpec, devices: readonly AfxdpPluginsDevice[]): AfxdpPluginsPool {
  const { name, udsServer = true, bpfMapPinning = false, udsTimeout = 0, uid = 0, requiresUnprivilegedBpf } = pool;
  return {
    name,
    mode: "primary",
    devices: devices.map((device) => ({ name: device.name })),
    ...(uid !== 0 && { uid }),
    ...((!udsServer || bpfMapPinning) && { udsServerDisable: true }),
    ...(bpfMapPinning && { bpfMapPinningEnable: true }),
    ...(udsTimeout !== 0 && { udsTimeout }),
    ...(requiresUnprivilegedBpf === true && { requiresUnprivilegedBpf }),
  };
}
