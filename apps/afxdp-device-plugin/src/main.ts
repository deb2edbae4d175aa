// SPDX-License-Identifier: Apache-2.0
/**
 * The process of afxdp-device-plugin. It imports the service only after restartWithMemoryFlags, which starts the process again: the
 * first process would load the service in vain.
 * Usage: `node apps/afxdp-device-plugin/src/main.ts --node-name worker-1 --namespace sriov-network-operator`.
 */
import { restartWithMemoryFlags } from "@switchyard/service/memory";

restartWithMemoryFlags();
const { runAfxdpDevicePlugin } = await import("./afxdp-device-plugin.ts");
const exitCode = await runAfxdpDevicePlugin();
// Idle connections would keep the process alive.
process.exit(exitCode);
