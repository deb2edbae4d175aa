// SPDX-License-Identifier: Apache-2.0
/** Rules about spec.deviceType and the fields that depend on it (sriov-operator.md E.2). */
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { virtioVendor } from "@switchyard/plan";
import { decidedByMost, listNames, quote, refuse, warn, type ReviewFinding } from "../finding.ts";
import { namesOf, type NodeGroup } from "../node-groups.ts";
import type { PolicyContext } from "../policy-context.ts";
import { forEachMatchedPf, matchedNodeCount } from "../policy-targets.ts";

export function checkDeviceType({ spec }: SriovNetworkNodePolicy): readonly ReviewFinding[] {
  const { deviceType = "netdevice", isRdma, vdpaType, eSwitchMode, linkType, nicSelector } = spec;
  const findings: ReviewFinding[] = [];
  if (deviceType === "vfio-pci" && isRdma === true) {
    const message = 'must be false or omitted if spec.deviceType is "vfio-pci": such VFs have no RDMA device';
    findings.push(refuse("spec.isRdma", message));
  }
  if (eSwitchMode === "switchdev" && linkType && linkType.toLowerCase() !== "eth") {
    const message = `must be "eth" or omitted if spec.eSwitchMode is "switchdev", not ${quote(linkType)}`;
    findings.push(refuse("spec.linkType", message));
  }
  if (vdpaType && deviceType !== "netdevice") {
    findings.push(refuse("spec.vdpaType", `requires spec.deviceType "netdevice", not ${quote(deviceType)}`));
  }
  if (vdpaType && eSwitchMode !== "switchdev" && nicSelector.vendor !== virtioVendor) {
    const message = `requires spec.eSwitchMode "switchdev", or for virtio NICs spec.nicSelector.vendor "${virtioVendor}"`;
    findings.push(refuse("spec.vdpaType", message));
  }
  if (vdpaType && isRdma === true) {
    findings.push(warn("spec.isRdma", "has no effect if spec.vdpaType is set: vDPA devices have no RDMA device"));
  }
  return findings;
}

/** DPDK's drivers for NVIDIA cards use the kernel's network driver. Virtual machines can use such VFs by vfio-pci. */
export function checkVfioVendor(
  { spec }: SriovNetworkNodePolicy,
  { targets }: PolicyContext,
): readonly ReviewFinding[] {
  if (spec.deviceType !== "vfio-pci") return [];
  const nodes = new Set<string>();
  forEachMatchedPf(targets, ({ vendor }, group) => {
    if (vendor === nvidiaVendor) for (const name of namesOf([group])) nodes.add(name);
  });
  if (nodes.size === 0) return [];
  const message = `on the NVIDIA cards of ${listNames([...nodes])}, "vfio-pci" is for virtual machines: DPDK needs "netdevice" with spec.isRdma true`;
  return [warn("spec.deviceType", message)];
}

const nvidiaVendor = "15b3";

/** The VFs of other vendors are no vDPA management devices. */
const vdpaVendors: ReadonlySet<string> = new Set([nvidiaVendor, virtioVendor]);

export function checkVdpaVendor(
  { spec }: SriovNetworkNodePolicy,
  { targets }: PolicyContext,
): readonly ReviewFinding[] {
  if (!spec.vdpaType) return [];
  const others = new Map<string, NodeGroup[]>();
  forEachMatchedPf(targets, (pf, group) => {
    if (pf.vendor === undefined || vdpaVendors.has(pf.vendor)) return;
    const card = `${pf.pciAddress} (${pf.vendor}:${pf.deviceID ?? "?"})`;
    const groups = others.get(card);
    if (groups === undefined) others.set(card, [group]);
    else groups.push(group);
  });
  const findings = [...others].map(([card, groups]) =>
    refuse(
      "spec.vdpaType",
      `requires Mellanox or virtio NICs; ${card} on ${listNames(namesOf(groups))} is of another vendor`,
    ),
  );
  return decidedByMost(findings, namesOf([...others.values()].flat()), matchedNodeCount(targets));
}
