// SPDX-License-Identifier: Apache-2.0
/** observeCluster returns what the caches know, in the form that decide() takes. */
import { operatorConfigName, type SriovOperatorConfig } from "@switchyard/api";
import type { Cache } from "@switchyard/kube";
import type { OffloadNetworkName } from "@switchyard/render";
import { openshiftNamespaces, type CachedConfigMap, type OffloadCaches } from "./caches/offload-caches.ts";
import type { ObservedCluster, ObservedConfigMap } from "./decide/observed.ts";

export interface ObserveSettings {
  readonly namespace: string;
  readonly ovnNamespace: string;
  readonly resourcePrefix: string;
  readonly network: OffloadNetworkName;
  readonly foreignMachineConfigs: ReadonlySet<string>;
  readonly lostPolicies: ObservedCluster["lostPolicies"];
  readonly waitingPodsOf: ObservedCluster["waitingPodsOf"];
}

export function observeCluster(caches: OffloadCaches, settings: ObserveSettings): ObservedCluster {
  const { namespace, ovnNamespace, resourcePrefix, network, foreignMachineConfigs, lostPolicies, waitingPodsOf } =
    settings;
  const isOpenshift = caches.machineConfigPools.served;
  const at = (of: string, name: string, found: [Cache<unknown>, Cache<CachedConfigMap>]): ObservedConfigMap => ({
    namespace: of,
    name,
    isPossible: found[0].get(of) !== undefined,
    present: found[1].get(name),
  });
  const { ovn, networkOperator } = openshiftNamespaces;
  const managementPorts = isOpenshift
    ? at(ovn, "ovn-management-ports", [caches.ovnNamespace, caches.managementPorts])
    : at(ovnNamespace, "ovn-management-ports", [caches.plainOvnNamespace, caches.plainManagementPorts]);
  return {
    namespace,
    resourcePrefix,
    foreignMachineConfigs,
    lostPolicies,
    waitingPodsOf,
    entries: entriesOf(caches.operatorConfigs.get(operatorConfigName)),
    machineConfigPools: isOpenshift ? caches.machineConfigPools.list() : undefined,
    machineConfigs: caches.machineConfigs.list(),
    policies: caches.policies.list(),
    nodes: caches.nodes.list(),
    reportOf: (node) => caches.states.get(node),
    configMaps: {
      managementPorts,
      envOverrides: at(ovn, "env-overrides", [caches.ovnNamespace, caches.envOverrides]),
      hardwareOffload: at(networkOperator, "hardware-offload-config", [
        caches.networkOperatorNamespace,
        caches.hardwareOffload,
      ]),
    },
    networks: { at: network, present: caches.networks.served ? caches.networks.list() : undefined },
    dns: caches.dns.get("default"),
    openshiftVersion: caches.clusterVersions.get("version")?.version,
  };
}

/** The end of an object is not a wish: `kubectl replace --force` deletes and creates it, and the removal of its kind deletes it. */
function entriesOf(config: SriovOperatorConfig | undefined): ObservedCluster["entries"] {
  if (config === undefined) return "missing";
  return config.metadata.deletionTimestamp === undefined ? (config.spec?.ovnHardwareOffload ?? []) : "deleting";
}
