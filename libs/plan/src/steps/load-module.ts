// SPDX-License-Identifier: Apache-2.0
import type { StepKind } from "./step-kind.ts";

/** Loads a kernel module, such as vfio-pci. */
export interface LoadModule {
  readonly kind: "load-module";
  readonly module: string;
}

export const loadModule: StepKind<LoadModule> = {
  describe: ({ module }) => `load kernel module ${module}`,
};
