// SPDX-License-Identifier: Apache-2.0
/**
 * Kernel modules behind /dev/net/tun and /dev/vhost-net, which pods get beside VFs with needVhostNet. Neither a driver nor a
 * status shows whether they are loaded, so they are no step of a plan; what is missing is a problem of the spec.
 * Usage: `const load = createVhostModules(host, { timing, now }); const problems = await load(desired);`
 */
import type { SriovNetworkNodeStateSpec } from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import type { PlanProblem } from "@switchyard/plan";
import { createPatience, type PatienceDeps } from "../deadlines/with-deadline.ts";

const modules = [
  { module: "tun", device: "/dev/net/tun" },
  { module: "vhost_net", device: "/dev/vhost-net" },
] as const;

/** Loads each module once, if some VF needs it; what cannot be had is the answer. */
export type LoadVhostModules = (desired: SriovNetworkNodeStateSpec) => Promise<readonly PlanProblem[]>;

export function createVhostModules(host: Host, deps: PatienceDeps): LoadVhostModules {
  const loaded = new Set<string>();
  const within = createPatience(host, deps);

  /** Undefined: the device is there, or will be when somebody opens it. */
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
      // Built in and without a directory in /sys/module, on a host that has no modprobe.
      if ((await files.readKind(device)) !== undefined) return undefined;
      return `${device} is missing: ${error.message}`;
    }
  }

  return async function loadVhostModules(desired) {
    const field = fieldThatNeedsThem(desired);
    if (field === undefined) return [];
    const problems: PlanProblem[] = [];
    for (const each of modules) {
      const tried = await within((watched) => load(each, watched));
      const message = tried.ok ? tried.value : tried.error;
      if (message !== undefined) problems.push({ code: "missing-module", field, message });
      if (!tried.ok) break; // modprobe hangs, and holds up nothing else
    }
    return problems;
  };
}

/** The first one: "spec.interfaces[0].vfGroups[1].needVhostNet". */
function fieldThatNeedsThem({ interfaces = [] }: SriovNetworkNodeStateSpec): string | undefined {
  for (const [at, { vfGroups = [] }] of interfaces.entries()) {
    const group = vfGroups.findIndex(({ needVhostNet }) => needVhostNet === true);
    if (group >= 0) return `spec.interfaces[${at}].vfGroups[${group}].needVhostNet`;
  }
  return undefined;
}
