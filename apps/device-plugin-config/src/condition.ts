// SPDX-License-Identifier: Apache-2.0
/**
 * What the node's state says of the device plugin: condition DevicePluginConfigured. Pure.
 * Usage: `setCondition(existing, { ...judge(handOut(state, …)), observedGeneration }, new Date())`.
 */
import { conditionTypes, devicePluginReasons as reasons, type Condition } from "@switchyard/api";
import type { HandOut, PendingVfs } from "./advertise.ts";

/** A condition without what setCondition() adds. */
export type Verdict = Omit<Condition, "lastTransitionTime" | "observedGeneration">;

/** At most so many causes are named. */
const named = 3;

export function judge({ rendered, pending }: HandOut): Verdict {
  const { config, problems } = rendered;
  const counts = (config.resourceList ?? []).map(({ resourceName, selectors }) => {
    return `${resourceName}: ${selectors.pciAddresses?.length ?? 0}`;
  });
  const done = counts.length === 0 ? "no VFs are handed out" : `VFs handed out: ${counts.join(", ")}`;
  const changing = pending.filter(({ why }) => why !== "missing");
  const say = (reason: string, causes: readonly string[]) => ({ reason, message: `${list(causes)}; ${done}` });

  const type = conditionTypes.devicePluginConfigured;
  if (changing.length > 0) return { type, status: "False", ...say(reasons.configuring, pending.map(describe)) };
  if (problems.length > 0) {
    const causes = problems.map(({ resourceName, message }) => `${resourceName}: ${message}`);
    return { type, status: "False", ...say(reasons.notPossible, causes) };
  }
  if (pending.length > 0) return { type, status: "False", ...say(reasons.vfsMissing, pending.map(describe)) };
  return { type, status: "True", reason: reasons.configured, message: done };
}

/** Nothing is known to be wrong with the node's state, and yet the plugin does not have what it asks for. */
export function notApplied(tried: string, error: unknown): Verdict {
  const message = `${tried}: ${error instanceof Error ? error.message : String(error)}`; // setCondition() bounds it
  return { type: conditionTypes.devicePluginConfigured, status: "False", reason: reasons.notApplied, message };
}

function describe({ resourceName, pciAddress, count, why }: PendingVfs): string {
  const vfs = `${count} ${count === 1 ? "VF" : "VFs"} of ${pciAddress}`;
  switch (why) {
    case "missing":
      return `${resourceName}: ${vfs} not made`;
    case "remade":
      return `${resourceName}: ${vfs} about to be made anew or bound to another driver`;
    case "stale":
      return `${resourceName}: ${vfs} not as the status tells`;
    case "unseen":
      return `${resourceName}: ${vfs} not seen to by the config daemon since the node started`;
  }
}

function list(causes: readonly string[]): string {
  const more = causes.length - named;
  return causes.slice(0, named).join("; ") + (more > 0 ? `; ${more} more` : "");
}
