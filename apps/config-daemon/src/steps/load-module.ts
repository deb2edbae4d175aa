// SPDX-License-Identifier: Apache-2.0
import type { Host } from "@switchyard/host";
import type { LoadModule } from "@switchyard/plan";

/** Loads the module unless it is loaded. */
export async function loadModule(step: LoadModule, host: Host): Promise<void> {
  await host.modules.load(step.module);
}
