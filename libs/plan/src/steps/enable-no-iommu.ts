// SPDX-License-Identifier: Apache-2.0
import type { StepKind } from "./step-kind.ts";

/** Lets vfio-pci bind cards of a machine without an IOMMU. It changes nothing on a machine with an IOMMU. */
export interface EnableNoIommu {
  readonly kind: "enable-no-iommu";
}

export const enableNoIommu: StepKind<EnableNoIommu> = {
  describe: () => "enable no-IOMMU mode of vfio, if there is no IOMMU",
};
