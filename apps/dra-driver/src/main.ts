// SPDX-License-Identifier: Apache-2.0
/**
 * The process of dra-driver. It imports the service only after restartWithMemoryFlags, which starts the process again: the first process
 * would load the service in vain.
 * Usage: `node apps/dra-driver/src/main.ts --node-name worker-1 --namespace sriov-network-operator`.
 */
import { restartWithMemoryFlags, setHeapGrowthStep } from "@switchyard/service/memory";

restartWithMemoryFlags();
setHeapGrowthStep();
const { runDraDriver } = await import("./dra-driver.ts");
const exitCode = await runDraDriver();
// Idle connections and watches of the kernel would keep the process alive.
process.exit(exitCode);
