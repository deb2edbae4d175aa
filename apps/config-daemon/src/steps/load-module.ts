// SPDX-License-Identifier: Apache-2.0
import type { Host } from "@switchyard/host";
import type { NodeStep } from "@switchyard/plan";

/** Loads the kernel module unless it is loaded already. */
export async function loadModule(step: NodeStep<"load-module">, host: Host): Promise<void> {
  await host.modules.load(step.module);
}
