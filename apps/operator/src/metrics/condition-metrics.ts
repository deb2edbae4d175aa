// SPDX-License-Identifier: Apache-2.0
/**
 * registerConditionMetrics registers the conditions of all kinds that users write. They are read from the caches at each scrape,
 * so every replica reports the same values. Of networks there can be thousands, so only their Degraded is reported.
 */
import { conditionTypes, type Condition } from "@switchyard/api";
import type { Cache } from "@switchyard/kube";
import { Gauge, type Registry } from "@switchyard/service";

interface Conditioned {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly status?: { readonly conditions?: readonly Condition[] } | undefined;
}

type ConditionedCache = Pick<Cache<Conditioned>, "list">;

/** The kinds with conditions, except for those of nodes. */
export interface ConditionCaches {
  readonly policies: ConditionedCache;
  readonly pools: ConditionedCache;
  readonly operatorConfigs: ConditionedCache;
  readonly afxdpPolicies: ConditionedCache;
  readonly afxdpConfigs: ConditionedCache;
  readonly sriovNetworks: ConditionedCache;
  readonly sriovIBNetworks: ConditionedCache;
  readonly ovsNetworks: ConditionedCache;
  readonly bridgeNetworks: ConditionedCache;
  readonly afxdpNetworks: ConditionedCache;
}

export function registerConditionMetrics(registry: Registry, caches: ConditionCaches): void {
  const { policies, pools, operatorConfigs, afxdpPolicies, afxdpConfigs } = caches;
  const { sriovNetworks, sriovIBNetworks, ovsNetworks, bridgeNetworks, afxdpNetworks } = caches;
  const few = [policies, pools, operatorConfigs, afxdpPolicies, afxdpConfigs];
  const networks = [sriovNetworks, sriovIBNetworks, ovsNetworks, bridgeNetworks, afxdpNetworks];
  new Gauge({
    name: "switchyard_conditions",
    help:
      "Conditions of policies, pools, configs and networks: 1 if True, else 0. Networks have Degraded only, and " +
      "object_namespace.",
    // Not `namespace`: Prometheus gives each series that of the operator's pod.
    labelNames: ["kind", "object_namespace", "name", "type"],
    registers: [registry],
    collect() {
      this.reset();
      for (const { kind, metadata, status } of few.flatMap((cache) => cache.list())) {
        for (const { type, status: value } of status?.conditions ?? []) {
          this.set({ kind, name: metadata.name, type }, value === "True" ? 1 : 0);
        }
      }
      for (const { kind, metadata, status } of networks.flatMap((cache) => cache.list())) {
        const degraded = status?.conditions?.find(({ type }) => type === conditionTypes.degraded);
        if (degraded === undefined) continue;
        const labels = { kind, object_namespace: metadata.namespace ?? "", name: metadata.name, type: degraded.type };
        this.set(labels, degraded.status === "True" ? 1 : 0);
      }
    },
  });
}
