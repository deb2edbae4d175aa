// SPDX-License-Identifier: Apache-2.0
/**
 * The process of device-plugin-config. It imports the service only after restartWithMemoryFlags, which starts the process again: the
 * first process would load the service in vain.
 */
import { restartWithMemoryFlags } from "@switchyard/service/memory";

restartWithMemoryFlags();
const { runDevicePluginConfig } = await import("./device-plugin-config.ts");
const exitCode = await runDevicePluginConfig();
// Idle connections would keep the process alive.
process.exit(exitCode);
