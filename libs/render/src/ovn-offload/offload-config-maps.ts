// SPDX-License-Identifier: Apache-2.0
/**
 * The ConfigMaps in which OVN-Kubernetes or OpenShift's network operator look for the management ports, and which of them a
 * release of OpenShift reads (smartnic.md 1, 4.1). Others also write these ConfigMaps.
 * Usage: `const form = managementPortForm("4.16.3");` is "resource": the network operator reads hardware-offload-config.
 */

/** Namespace and name of a ConfigMap. */
export interface ConfigMapName {
  readonly namespace: string;
  readonly name: string;
}

const openshiftOvn = "openshift-ovn-kubernetes";

/** The ConfigMaps of OpenShift. */
export const offloadConfigMaps = {
  managementPorts: { namespace: openshiftOvn, name: "ovn-management-ports" },
  envOverrides: { namespace: openshiftOvn, name: "env-overrides" },
  hardwareOffload: { namespace: "openshift-network-operator", name: "hardware-offload-config" },
} as const satisfies Readonly<Record<string, ConfigMapName>>;

/** Name of the proposal's ConfigMap in the namespace of OVN-Kubernetes, in clusters without OpenShift. */
export const plainManagementPorts = offloadConfigMaps.managementPorts.name;

/**
 * "resource": from OpenShift 4.14 on, the network operator reads VF 0's resource from hardware-offload-config. "name": until
 * then, and if the version is unknown, ovnkube reads VF 0's name from env-overrides. The proposal's ConfigMap is always written.
 */
export function managementPortForm(openshiftVersion: string | undefined): "name" | "resource" {
  const [, major = "0", minor = "0"] = /^(\d{1,4})\.(\d{1,4})(?:\.|$)/.exec(openshiftVersion ?? "") ?? [];
  return Number(major) > 4 || (Number(major) === 4 && Number(minor) >= 14) ? "resource" : "name";
}
