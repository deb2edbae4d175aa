// SPDX-License-Identifier: Apache-2.0
/**
 * What upstream's systemd mode left on OpenShift: a MachineConfig with two units that configure NICs at each boot, by a
 * spec that nobody updates any more (sriov-operator.md F.11, smartnic.md 8). On other clusters, and for what the units
 * read, the config daemon cleans up on each node (apps/config-daemon/src/upstream-leftovers.ts).
 * Usage: `createSystemdModeReconciler({ machineConfigs, isManaged, onRemoved })`.
 */
import { isUpstreamUnit } from "@switchyard/api";
import type { KubeObject, Reconcile } from "@switchyard/kube";
import { unitsOf } from "./machine-config.ts";
import type { MachineConfigs } from "./machine-configs.ts";

export const systemdModeConfigName = "sriov-config-service";

export interface SystemdModeDeps {
  readonly machineConfigs: Pick<MachineConfigs, "read" | "delete">;
  /** Whether there is a SriovOperatorConfig: without it, all stays as it is. */
  readonly isManaged: () => boolean;
  /** Called when it is deleted: OpenShift then reboots the machines. */
  readonly onRemoved: () => void;
}

export function createSystemdModeReconciler({ machineConfigs, isManaged, onRemoved }: SystemdModeDeps): Reconcile {
  return async function reconcile(_key, signal) {
    if (!isManaged()) return undefined;
    const config = await machineConfigs.read(systemdModeConfigName, signal);
    if (config === undefined || !isUpstreamsSystemdMode(config)) return undefined;
    await machineConfigs.delete(config, signal);
    onRemoved();
    return undefined;
  };
}

/** Whether it has upstream's units, and no others. */
export function isUpstreamsSystemdMode(config: KubeObject): boolean {
  const units = unitsOf(config);
  return units.length > 0 && units.every(({ name, contents }) => isUpstreamUnit(name, contents));
}
