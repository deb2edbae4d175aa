// SPDX-License-Identifier: Apache-2.0
/**
 * renderAfxdpPlugins renders the configuration of the device plugin of provider upstream for each node, by the function that writes it
 * on the nodes. It is printed as a ConfigMap with a key for each node; no such object is created in a cluster.
 * Usage: `renderAfxdpPlugins(cluster, desiredAfxdpStates(cluster, options), options)`.
 */
import { afxdpProviderOf } from "@switchyard/policy";
import { formatAfxdpPluginsConfig, nodeAfxdpPluginsConfig } from "@switchyard/render";
import type { ClusterObjects } from "./cluster-objects.ts";
import type { DesiredAfxdpOptions, DesiredAfxdpState } from "./desired-afxdp-states.ts";

const name = "afxdp-plugins-config";

/** Empty with another provider, and without nodes. What cannot be offered on a node is noted. */
export function renderAfxdpPlugins(
  { afxdp }: Pick<ClusterObjects, "afxdp">,
  desired: readonly DesiredAfxdpState[],
  { namespace, diagnostics }: Pick<DesiredAfxdpOptions, "namespace" | "diagnostics">,
) {
  if (desired.length === 0 || afxdpProviderOf(afxdp.operatorConfig) !== "upstream") return [];
  const verbosity = afxdp.operatorConfig?.spec?.logLevel;
  const data: Record<string, string> = {};
  for (const { node, spec } of desired) {
    const status = afxdp.states.get(node.metadata.name)?.status ?? {};
    const { config, problems } = nodeAfxdpPluginsConfig({ spec, status }, { verbosity });
    data[node.metadata.name] = formatAfxdpPluginsConfig(config);
    for (const { poolName, message } of problems) {
      diagnostics.note(`ConfigMap/${namespace}/${name}: node ${node.metadata.name}: pool ${poolName}: ${message}`);
    }
  }
  return [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data }];
}
