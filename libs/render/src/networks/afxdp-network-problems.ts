// SPDX-License-Identifier: Apache-2.0
/**
 * afxdpNetworkProblems returns what the CNI plugin of an AfxdpNetwork cannot do (eve-and-afxdp.md b2).
 * Usage: `afxdpNetworkProblems(network.spec, { provider: "upstream", names: [] })`.
 */
import type { AfxdpNetworkSpec } from "@switchyard/api";
import type { NetworkProblem } from "./network-texts.ts";
import type { AfxdpPlugin } from "./plugin-configs.ts";
import type { PoolDevices } from "./node-devices.ts";

const maxShownNames = 5;

/** Empty if the plugin can do what the network requests. */
export function afxdpNetworkProblems(
  spec: AfxdpNetworkSpec,
  { provider, names }: AfxdpPlugin,
): readonly NetworkProblem[] {
  return [
    ...(provider === "switchyard" ? namingProblems(spec.poolName, names) : []),
    ...commandProblems(spec, provider),
  ];
}

/**
 * Returns the sentence about the devices of a pool that host-device, the CNI plugin of provider switchyard, cannot attach although the
 * AfxdpNetwork is valid; "" if it can attach all.
 */
export function unattachableDevices(poolName: string, { names, hasIds }: PoolDevices): string {
  if (!hasIds || names.length === 0) return "";
  return (
    `pods that get ${listed(names)} of pool ${poolName} cannot be attached, because the CNI plugin host-device finds devices of ` +
    "this pool by their ids, which only devices on the PCI bus have: give the others a pool of their own"
  );
}

/** A NetworkAttachmentDefinition has one name for all pods. */
function namingProblems(poolName: string, names: readonly string[]): readonly NetworkProblem[] {
  if (names.length <= 1) return [];
  const message =
    "must be a pool whose devices have the same name on all nodes, because the CNI plugin host-device finds devices that are not " +
    `on the PCI bus by a fixed name only; pool ${poolName} has ${listed(names)}: give each name a pool of its own`;
  return [{ code: "unsuited-plugin", field: "spec.poolName", message }];
}

/** "eth1, eth2 and 3 more" */
function listed(names: readonly string[]): string {
  const more = names.length - maxShownNames;
  return `${names.slice(0, maxShownNames).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function commandProblems(
  { ethtoolCmds = [], mode, ipam }: AfxdpNetworkSpec,
  provider: AfxdpPlugin["provider"],
): readonly NetworkProblem[] {
  const problems: NetworkProblem[] = [];
  if (provider === "upstream" && mode === "subfunction") {
    const message =
      "must be primary or omitted with provider upstream, which offers no subfunctions: use provider switchyard";
    problems.push({ code: "unsuited-plugin", field: "spec.mode", message });
  }
  if (ethtoolCmds.length === 0) return problems;
  const field = "spec.ethtoolCmds";
  if (provider !== "upstream") {
    const message = "must be omitted, because the CNI plugin host-device runs no commands: only provider upstream does";
    return [{ code: "unsuited-plugin", field, message }];
  }
  // The plugin dereferences the result of IPAM without a check.
  if (!ipam) {
    const message = "requires spec.ipam: without an IP address, the CNI plugin crashes";
    problems.push({ code: "unsuited-plugin", field, message });
  }
  return problems;
}
