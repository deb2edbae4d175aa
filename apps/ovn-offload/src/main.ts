// SPDX-License-Identifier: Apache-2.0
/**
 * The process of ovn-offload.
 * Usage: `node apps/ovn-offload/src/main.ts --namespace sriov-network-operator`.
 */
import { restartWithMemoryFlags } from "@switchyard/service/memory";

restartWithMemoryFlags();
// Imported only now: the first process, which starts the second, would load it in vain.
const { runOvnOffload } = await import("./ovn-offload.ts");

// Idle connections that are still open would keep the process alive.
process.exit(await runOvnOffload());
