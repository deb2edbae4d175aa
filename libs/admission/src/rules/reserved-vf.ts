// SPDX-License-Identifier: Apache-2.0
/**
 * checkReservedVf protects the first VFs of SmartNICs on whose hosts OVN runs on the card: they are the management ports of
 * OVN-Kubernetes. Merging reserves them whatever policies request, so a policy that asks for one by number is refused, and a
 * policy for all VFs is told that it gets fewer.
 */
import { labels, type InterfaceStatus, type SriovNetworkNodePolicy } from "@switchyard/api";
import { isNameOf, managementPf, offloadHostOf, parsePfName, reservedVfs, unreservedVfs } from "@switchyard/policy";
import type { ClusterView } from "../cluster-view.ts";
import { listNames, refuse, warn, type ReviewFinding } from "../finding.ts";
import type { NodeForReview } from "../node-for-review.ts";
import { offloadSelection } from "./ovn-offload.ts";
import type { PolicyContext } from "../policy-context.ts";
import { asNode } from "../policy-targets.ts";

export function checkReservedVf(policy: SriovNetworkNodePolicy, context: PolicyContext): readonly ReviewFinding[] {
  const { targets, view } = context;
  let selected: ReadonlySet<string> | undefined;
  const isSelected = (name: string): boolean => {
    selected ??= selectedHosts(view);
    return selected.has(name);
  };
  const found = new Map<string, FoundFinding>();
  for (const { groups, layout, pfs } of targets.matches) {
    const management = managementPf(layout);
    const pf = pfs.find(({ nic }) => nic.pciAddress === management?.pciAddress);
    if (pf?.vfs === undefined) continue;
    for (const node of groups.flatMap(({ nodes }) => nodes)) {
      const host =
        offloadHostOf(asNode(node), layout) ?? (isSelected(node.name) ? futureHost(node, layout) : undefined);
      const { vfs, problem } = unreservedVfs(policy, { nic: pf.nic, vfs: pf.vfs, host });
      if (host === undefined || pf.vfs.first >= host.managementVfs) continue;
      if (vfs === undefined && problem === undefined) continue;
      const rest = vfs === undefined ? undefined : `${vfs.first} to ${vfs.last}`;
      const finding = findingFor(policy, pf.nic, { rest, reserved: host.managementVfs });
      const key = JSON.stringify([host.managementVfs, finding.message]);
      const entry = found.get(key) ?? { finding, reserved: host.managementVfs, nodes: [] };
      found.set(key, entry);
      entry.nodes.push(node.name);
    }
  }
  return [...found.values()].map(({ finding, reserved, nodes }) => ({
    ...finding,
    message: `${reservedVfs(reserved, "")} on ${listNames(nodes)}: ${finding.message}`,
  }));
}

interface FoundFinding {
  readonly finding: ReviewFinding;
  /** Number of reserved VFs. */
  readonly reserved: number;
  readonly nodes: string[];
}

/** Returns the names of the nodes that entries of spec.ovnHardwareOffload select. */
export function selectedHosts(view: ClusterView): ReadonlySet<string> {
  const selection = offloadSelection(view.operatorConfig?.spec?.ovnHardwareOffload, view);
  return new Set(selection?.pools.flatMap(({ nodes }) => nodes));
}

/** `rest` is undefined if the resource gets no VF of the PF. */
function findingFor(
  { spec }: SriovNetworkNodePolicy,
  nic: InterfaceStatus,
  { rest, reserved }: { readonly rest: string | undefined; readonly reserved: number },
): ReviewFinding {
  const entries = spec.nicSelector.pfNames ?? [];
  const index = entries.findIndex((entry) => {
    const pfName = parsePfName(entry);
    return pfName.ok && isNameOf(pfName.value.name, nic);
  });
  const where = `${nic.name ?? "unnamed"} (${nic.pciAddress})`;
  if (index >= 0 && entries[index]?.includes("#") === true) {
    const path = `spec.nicSelector.pfNames[${index}]`;
    return refuse(path, `select VFs from VF ${reserved} of ${where}`);
  }
  const gets = rest === undefined ? "no VF" : `VFs ${rest} only`;
  return warn("spec.nicSelector", `the policy's resource gets ${gets} of ${where}`);
}

/** The node as it will be once ovn-offload has labelled it. */
export function futureHost(node: NodeForReview, layout: readonly InterfaceStatus[]): ReturnType<typeof offloadHostOf> {
  const marked = { ...node.labels, [labels.ovnOffloadPool]: "selected" };
  return offloadHostOf(asNode({ name: node.name, labels: marked }), layout);
}
