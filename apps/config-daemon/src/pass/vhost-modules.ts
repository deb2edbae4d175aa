// SPDX-License-Identifier: Apache-2.0
/**
 * createVhostModules loads the kernel modules behind /dev/net/tun and /dev/vhost-net, which pods get in addition to VFs with
 * needVhostNet. Neither a driver nor the status shows whether they are loaded. Therefore loading them is not a step of a
 * plan. The plan reports a device that is missing as a problem of each PF that asks for it.
 *
 * On a node whose VFs are given to pods by ResourceClaims, any claim can ask for these devices, and for vfio-pci. The DRA driver has no
 * program to load modules, so they are loaded here. If one is missing, the claim that asks for it says so.
 */
import type { SriovNetworkNodeStateSpec } from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import { createWithDeadline, type DeadlineDeps } from "../deadlines/with-deadline.ts";

const modules = [
  { module: "tun", device: "/dev/net/tun" },
  { module: "vhost_net", device: "/dev/vhost-net" },
] as const;

/** Loads each module once if a VF group needs it. Returns a sentence for each device that is missing nevertheless. */
export type LoadVhostModules = (desired: SriovNetworkNodeStateSpec) => Promise<readonly string[]>;

export function createVhostModules(host: Host, deps: DeadlineDeps): LoadVhostModules {
  const loaded = new Set<string>();
  const tried = new Set<string>();
  const withDeadline = createWithDeadline(host, deps);

  /** Returns undefined if the device exists, or will exist when it is opened. */
  async function load(
    { module, device }: (typeof modules)[number],
    { modules: port, files }: Pick<Host, "modules" | "files">,
  ): Promise<string | undefined> {
    try {
      if (!loaded.has(module)) await port.load(module);
      loaded.add(module);
      return undefined;
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      // A built-in module without parameters has no directory in /sys/module, and the host may have no modprobe.
      if ((await files.readKind(device)) !== undefined) return undefined;
      return `${device} is missing: ${error.message}`;
    }
  }

  /** Tries each module once. */
  async function loadForClaims(): Promise<void> {
    for (const module of ["vfio-pci", ...modules.map((each) => each.module)]) {
      if (tried.has(module)) continue;
      tried.add(module);
      await withDeadline(({ modules: port }) => port.load(module)).catch(ignoreRefusal);
    }
  }

  return async function loadVhostModules(desired) {
    if (desired.allocation === "dra") await loadForClaims();
    if (!needsVhostNet(desired)) return [];
    const missing: string[] = [];
    for (const each of modules) {
      const loading = await withDeadline((watched) => load(each, watched));
      const message = loading.ok ? loading.value : loading.error;
      if (message !== undefined) missing.push(message);
      if (!loading.ok) break; // modprobe hangs. The pass goes on without the modules.
    }
    return missing;
  };
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof HostError)) throw error;
}

function needsVhostNet({ interfaces = [] }: SriovNetworkNodeStateSpec): boolean {
  return interfaces.some(({ vfGroups = [] }) => vfGroups.some(({ needVhostNet }) => needVhostNet === true));
}
