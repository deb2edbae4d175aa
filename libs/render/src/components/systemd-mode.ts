// SPDX-License-Identifier: Apache-2.0
/**
 * The systemd mode (SriovOperatorConfig.spec.configurationMode) as far as the cluster is concerned: whether it is on, and on
 * OpenShift the MachineConfig that installs the units. A change of its text reboots all machines of the pool.
 * Usage: `if (isSystemdMode({ config, settings })) await apply(systemdModeMachineConfig());`
 */
import { labels, machineConfigBootUnits } from "@switchyard/api";
import type { ComponentInput } from "./component.ts";
import type { Manifest } from "./objects/manifest.ts";

/** Reports whether nodes are configured while they boot. The mode does not work with a hosted control plane of OpenShift. */
export function isSystemdMode({ config, settings }: Pick<ComponentInput, "config" | "settings">): boolean {
  const isHosted = settings.clusterType === "openshift" && settings.isControlPlaneExternal === true;
  return config.spec?.configurationMode === "systemd" && !isHosted;
}

/** Name of upstream's MachineConfig, which this one replaces. */
export const systemdModeConfigName = "sriov-config-service";

/** Upstream's role. On nodes without the program and its configuration, the units do nothing. */
const role = "worker";

export function systemdModeMachineConfig(): Manifest & { readonly spec: object } {
  const units = machineConfigBootUnits.map(({ name, text }) => ({ name, enabled: true, contents: text }));
  return {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineConfig",
    metadata: {
      name: systemdModeConfigName,
      labels: {
        [labels.managedBy]: "switchyard-operator",
        "app.kubernetes.io/component": "systemd-mode",
        [labels.machineConfigRole]: role,
      },
    },
    spec: { config: { ignition: { version: "3.2.0" }, systemd: { units } } },
  };
}
