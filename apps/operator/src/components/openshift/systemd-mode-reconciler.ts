// SPDX-License-Identifier: Apache-2.0
/**
 * createSystemdModeReconciler writes and deletes the MachineConfig of the systemd mode on OpenShift
 * (sriov-operator.md F.11, smartnic.md 8). It replaces upstream's, and deletes upstream's in daemon mode: its units would
 * configure NICs at each boot by a spec that is no longer updated. Every change of a MachineConfig reboots machines, so
 * nothing is written as long as the units are the same. On other clusters the config daemon writes the units.
 */
import { isUpstreamUnit, machineConfigBootUnits } from "@switchyard/api";
import type { KubeObject, Reconcile } from "@switchyard/kube";
import { systemdModeConfigName, systemdModeMachineConfig } from "@switchyard/render";
import { unitsOf, type ConfiguredUnit } from "./hardware-offload.ts";
import type { MachineConfigs } from "./machine-configs.ts";

export interface SystemdModeDeps {
  readonly machineConfigs: Pick<MachineConfigs, "read" | "apply" | "delete">;
  /** Reports whether SriovOperatorConfig "default" exists. Without it, nothing is changed. */
  readonly isManaged: () => boolean;
  /** Reports whether nodes are configured while they boot. */
  readonly isSystemdMode: () => boolean;
  /** Called when the MachineConfig is written or deleted. OpenShift then reboots the machines. */
  readonly onChanged: (change: SystemdModeChange) => void;
}

/** "foreign": a MachineConfig of this name has other content and is not changed. */
export type SystemdModeChange = "written" | "deleted" | "foreign";

export function createSystemdModeReconciler(deps: SystemdModeDeps): Reconcile {
  const { machineConfigs, onChanged } = deps;

  return async function reconcile(_key, signal) {
    if (!deps.isManaged()) return undefined;
    const config = await machineConfigs.read(systemdModeConfigName, signal);
    const isWanted = deps.isSystemdMode();
    if (config !== undefined && !hasOnlyOurUnits(config)) {
      if (isWanted) onChanged("foreign");
      return undefined;
    }
    if (isWanted) {
      if (config !== undefined && isCurrent(config)) return undefined;
      await machineConfigs.apply(systemdModeMachineConfig(), signal);
      onChanged("written");
    } else if (config !== undefined) {
      await machineConfigs.delete(config, signal);
      onChanged("deleted");
    }
    return undefined;
  };
}

/** Reports whether the MachineConfig contains units of upstream or of any release of this operator, and no others. */
function hasOnlyOurUnits(config: KubeObject): boolean {
  const units = unitsOf(config);
  return units.length > 0 && units.every((unit) => isUpstreamUnit(unit.name, unit.contents) || isOwnUnit(unit));
}

function isOwnUnit({ name, contents }: ConfiguredUnit): boolean {
  const own = machineConfigBootUnits.find((unit) => unit.name === name);
  return own !== undefined && contents.split("\n", 1)[0] === own.text.split("\n", 1)[0];
}

function isCurrent(config: KubeObject): boolean {
  const units = unitsOf(config);
  return (
    units.length === machineConfigBootUnits.length &&
    machineConfigBootUnits.every(({ name, text }) => units.some((unit) => unit.name === name && unit.contents === text))
  );
}
