// SPDX-License-Identifier: Apache-2.0
/**
 * ovnOffloadMaps returns the ConfigMaps that ovn-offload writes in a cluster of this type.
 * Usage: `const names = Object.values(ovnOffloadMaps(settings)).map(({ name }) => name);`
 */
import { offloadConfigMaps, plainManagementPorts, type ConfigMapName } from "../offload-config-maps.ts";
import type { OvnOffloadIdentitySettings } from "./identity-settings.ts";

export function ovnOffloadMaps({
  clusterType,
  ovnNamespace,
}: Pick<OvnOffloadIdentitySettings, "clusterType" | "ovnNamespace">): Readonly<
  Partial<Record<keyof typeof offloadConfigMaps, ConfigMapName>>
> {
  if (clusterType === "openshift") return offloadConfigMaps;
  return { managementPorts: { namespace: ovnNamespace, name: plainManagementPorts } };
}
