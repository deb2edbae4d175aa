// SPDX-License-Identifier: Apache-2.0
import type { StepKind } from "./step-kind.ts";

/** Configures the arguments of the kernel in the boot loader. They take effect at the next boot. */
export interface SetKernelArguments {
  readonly kind: "set-kernel-arguments";
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

export const setKernelArguments: StepKind<SetKernelArguments> = {
  describe({ add, remove }) {
    const parts = [
      ...(add.length > 0 ? [`add ${add.join(" ")}`] : []),
      ...(remove.length > 0 ? [`remove ${remove.join(" ")}`] : []),
    ];
    return `change kernel arguments of the next boot: ${parts.join(", ")}`;
  },
};
