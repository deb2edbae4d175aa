// SPDX-License-Identifier: Apache-2.0
/**
 * createVhostModules loads the kernel modules behind /dev/net/tun and /dev/vhost-net, which pods get in addition to VFs with
 * needVhostNet. Neither a driver nor the status shows whether they are loaded. Therefore loading them is not a step of a
 * plan, and a module that cannot be loaded is reported as a problem of the spec.
 */
import type { SriovNetworkNodeStateSpec } from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import type { PlanProblem } from "@switchyard/plan";
import { createWithDeadline, type DeadlineDeps } from "../deadlines/with-deadline.ts";

const modules = [
  { module: "tun", device: "/dev/net/tun" },
  { module: "vhost_net", device: "/dev/vhost-net" },
] as const;

/** Loads each module once if a VF group needs it. Returns a problem for each module that cannot be loaded. */
export type LoadVhostModules = (desired: SriovNetworkNodeStateSpec) => Promise<readonly PlanProblem[]>;

export function createVhostModules(host: Host, deps: DeadlineDeps): LoadVhostModules {
  const loaded = new Set<string>();
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

  return async function loadVhostModules(desired) {
    const field = findNeedVhostNet(desired);
    if (field === undefined) return [];
    const problems: PlanProblem[] = [];
    for (const each of modules) {
      const loading = await withDeadline((watched) => load(each, watched));
      const message = loading.ok ? loading.value : loading.error;
      if (message !== undefined) problems.push({ code: "missing-module", field, message });
      if (!loading.ok) break; // modprobe hangs. The pass goes on without the modules.
    }
    return problems;
  };
}

/** Returns the path of the first needVhostNet that is true: "spec.interfaces[0].vfGroups[1].needVhostNet". */
function findNeedVhostNet({ interfaces = [] }: SriovNetworkNodeStateSpec): string | undefined {
  for (const [at, { vfGroups = [] }] of interfaces.entries()) {
    const group = vfGroups.findIndex(({ needVhostNet }) => needVhostNet === true);
    if (group >= 0) return `spec.interfaces[${at}].vfGroups[${group}].needVhostNet`;
  }
  return undefined;
}
