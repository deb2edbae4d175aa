// SPDX-License-Identifier: Apache-2.0
import type { Host } from "@switchyard/host";
import type { NodeStep } from "@switchyard/plan";

/** Enables vfio without an IOMMU (sriov-operator.md F.10), unless the machine has one. */
export async function enableNoIommu(_step: NodeStep<"enable-no-iommu">, host: Host): Promise<void> {
  await host.modules.enableNoIommu();
}
