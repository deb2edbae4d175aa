// SPDX-License-Identifier: Apache-2.0
/**
 * afxdpNetworkProblems returns what the CNI plugin of an AfxdpNetwork cannot do (eve-and-afxdp.md b2).
 * Usage: `afxdpNetworkProblems(network.spec, "upstream")`.
 */
import type { AfxdpNetworkSpec, AfxdpProvider } from "@switchyard/api";
import type { NetworkProblem } from "./network-texts.ts";

/** Empty if the plugin can do what the network requests. */
export function afxdpNetworkProblems(
  { ethtoolCmds = [], mode, ipam }: AfxdpNetworkSpec,
  provider: AfxdpProvider,
): readonly NetworkProblem[] {
  if (ethtoolCmds.length === 0) return [];
  const field = "spec.ethtoolCmds";
  if (provider !== "upstream") {
    const message = "must be omitted, because the CNI plugin host-device runs no commands: only provider upstream does";
    return [{ code: "unsuited-plugin", field, message }];
  }
  const problems: NetworkProblem[] = [];
  if (mode === "subfunction") {
    const message = "must be omitted with mode subfunction: the CNI plugin runs the commands for mode primary only";
    problems.push({ code: "unsuited-plugin", field, message });
  }
  // The plugin dereferences the result of IPAM without a check.
  if (!ipam) {
    const message = "requires spec.ipam: without an IP address, the CNI plugin crashes";
    problems.push({ code: "unsuited-plugin", field, message });
  }
  return problems;
}
