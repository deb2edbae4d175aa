// SPDX-License-Identifier: Apache-2.0
/**
 * createSystemdModeReconciler deletes the MachineConfig of upstream's systemd mode on OpenShift. Its two units would
 * configure NICs at each boot by a spec that is no longer updated (sriov-operator.md F.11, smartnic.md 8). On other
 * clusters, and for the files that the units read, the config daemon cleans up each node
 * (apps/config-daemon/src/upstream/upstream-leftovers.ts).
 * Usage: `const reconcile = createSystemdModeReconciler({ machineConfigs, isManaged, onRemoved });`
 */
import { isUpstreamUnit } from "@switchyard/api";
import type { KubeObject, Reconcile } from "@switchyard/kube";
import { unitsOf } from "./machine-config.ts";
import type { MachineConfigs } from "./machine-configs.ts";

export const systemdModeConfigName = "sriov-config-service";

export interface SystemdModeDeps {
  readonly machineConfigs: Pick<MachineConfigs, "read" | "delete">;
  /** Reports whether SriovOperatorConfig "default" exists. Without it, nothing is changed. */
  readonly isManaged: () => boolean;
  /** Called when the MachineConfig is deleted. OpenShift then reboots the machines. */
  readonly onRemoved: () => void;
}

export function createSystemdModeReconciler({ machineConfigs, isManaged, onRemoved }: SystemdModeDeps): Reconcile {
  return async function reconcile(_key, signal) {
    if (!isManaged()) return undefined;
    const config = await machineConfigs.read(systemdModeConfigName, signal);
    if (config === undefined || !hasOnlyUpstreamUnits(config)) return undefined;
    await machineConfigs.delete(config, signal);
    onRemoved();
    return undefined;
  };
}

/** Reports whether the MachineConfig contains only units of upstream. */
function hasOnlyUpstreamUnits(config: KubeObject): boolean {
  const units = unitsOf(config);
  return units.length > 0 && units.every(({ name, contents }) => isUpstreamUnit(name, contents));
}
