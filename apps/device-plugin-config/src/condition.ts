// SPDX-License-Identifier: Apache-2.0
/** Computes the condition DevicePluginConfigured of the NodeState. All functions are pure. */
import { conditionTypes, devicePluginReasons as reasons } from "@switchyard/api";
import type { NewCondition } from "@switchyard/kube";
import type { Unregistered } from "./registered-resources.ts";
import type { Advertised, PendingCause, PendingVfs } from "./advertise.ts";

/** The message names at most this number of causes. */
const maxNamed = 3;

const type = conditionTypes.devicePluginConfigured;

export function conditionOf({ rendered, pending }: Advertised): NewCondition {
  const { config, problems } = rendered;
  const counts = (config.resourceList ?? []).map(({ resourceName, selectors }) => {
    return `${resourceName}: ${selectors.pciAddresses?.length ?? 0}`;
  });
  const advertised = counts.length === 0 ? "no VFs are advertised" : `VFs advertised: ${counts.join(", ")}`;
  const notReady = (reason: string, texts: readonly string[]): NewCondition => {
    return { type, status: "False", reason, message: `${list(texts)}; ${advertised}` };
  };

  if (pending.some(({ cause }) => !lasting.has(cause))) return notReady(reasons.configuring, pending.map(describe));
  if (problems.length > 0) {
    return notReady(
      reasons.notPossible,
      problems.map(({ resourceName, message }) => `${resourceName}: ${message}`),
    );
  }
  if (pending.some(({ cause }) => withheld.has(cause))) return notReady(reasons.vfsHeld, pending.map(describe));
  const others = pending.filter(({ cause }) => cause !== "moved");
  if (others.length > 0) return notReady(reasons.vfsMissing, others.map(describe));
  if (pending.length > 0) {
    const message = `${list(pending.map(describe))}; ${advertised}`;
    return { type, status: "True", reason: reasons.offeredToClaims, message };
  }
  return { type, status: "True", reason: reasons.configured, message: advertised };
}

/** Returns the condition for a node whose kubelet does not know the resources. `advertised` is what the plugin is to offer. */
export function notRegistered({ resources, isKubeletAbsent }: Unregistered, advertised: string): NewCondition {
  const why = isKubeletAbsent
    ? "there is no kubelet in its directory; if the kubelet has another --root-dir than /var/lib/kubelet, set the chart's value " +
      "operator.kubeletDirectory (KUBELET_DIRECTORY of the operator)"
    : `no device plugin has registered ${list(resources)} at the kubelet yet`;
  return { type, status: "False", reason: reasons.notRegistered, message: `${why}; ${advertised}` };
}

const withheld: ReadonlySet<PendingCause> = new Set(["published", "held", "unknown-holder", "unclean"] as const);

/** What can last, and does not say that the daemon is about to do something. */
const lasting: ReadonlySet<PendingCause> = new Set([
  ...withheld,
  "moved",
  "missing",
  "no-interface",
  "no-bridge",
  "bridge-down",
] as const);

/** Returns the condition for a node whose plugin could not be updated. `action` is what failed. */
export function notApplied(action: string, error: unknown): NewCondition {
  const message = `${action}: ${error instanceof Error ? error.message : String(error)}`; // setConditions() limits it
  return { type, status: "False", reason: reasons.notApplied, message };
}

function describe({ resourceName, pciAddress, count, cause, withheld: why = [] }: PendingVfs): string {
  const isOne = count === 1;
  const vfs = `${resourceName}: ${count} ${isOne ? "VF" : "VFs"} of ${pciAddress}`;
  switch (cause) {
    case "missing":
      return `${vfs} ${isOne ? "has" : "have"} not been created yet`;
    case "draining":
      return `${vfs} ${isOne ? "is" : "are"} withheld until the config daemon has changed ${isOne ? "it" : "them"} (drain)`;
    case "published": {
      const drivers = [...new Set(why.flatMap((each) => ("drivers" in each ? each.drivers : [])))].sort();
      const more = drivers.length > maxNamed ? ` and ${drivers.length - maxNamed} more` : "";
      const named = `${drivers.slice(0, maxNamed).join(", ")}${more}`;
      return `${vfs} ${isOne ? "is" : "are"} withheld because ResourceSlices offer ${isOne ? "it" : "them"}: ${named}`;
    }
    case "moved":
      return `${vfs} ${isOne ? "is" : "are"} given to pods by ResourceClaims`;
    case "held": {
      const holders = why.flatMap((each) => ("holders" in each ? each.holders : []));
      const pods = [...new Set(holders.map(({ namespace, name, resource }) => `${namespace}/${name} (${resource})`))];
      const more = pods.length > maxNamed ? ` and ${pods.length - maxNamed} more` : "";
      const named = `${pods.slice(0, maxNamed).join(", ")}${more}`;
      return `${vfs} ${isOne ? "is" : "are"} withheld until pods that have ${isOne ? "it" : "them"} end: ${named}`;
    }
    case "unknown-holder": {
      const error = why.flatMap((each) => ("error" in each ? [each.error] : []))[0] ?? "";
      return `${vfs} ${isOne ? "is" : "are"} withheld because the kubelet does not say which pods have VFs: ${error}`;
    }
    case "no-bridge":
      return `${vfs} ${isOne ? "is" : "are"} withheld until the bridge of the PF exists`;
    case "bridge-down":
      return `${vfs} ${isOne ? "is" : "are"} withheld until ovs-vswitchd runs`;
    case "unclean":
      return `${vfs} ${isOne ? "is" : "are"} withheld until the settings that a past pod has left are reset`;
    case "no-interface":
      return `${vfs} ${isOne ? "has" : "have"} no network interface`;
    case "changing":
      return `${vfs} ${isOne ? "is" : "are"} about to be created again or bound to another driver`;
    case "stale":
      return `${vfs} ${isOne ? "differs" : "differ"} from the status of the node`;
    case "not-configured":
      return `${vfs} ${isOne ? "has" : "have"} not been configured by the config daemon since the node started`;
  }
}

function list(texts: readonly string[]): string {
  const more = texts.length - maxNamed;
  return texts.slice(0, maxNamed).join("; ") + (more > 0 ? `; ${more} more` : "");
}
