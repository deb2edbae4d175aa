// SPDX-License-Identifier: Apache-2.0
/**
 * The process of device-plugin-config. It imports the service only after runFrugally, which starts the process again: the
 * first process would load the service in vain.
 */
import { runFrugally } from "@switchyard/service/memory";

runFrugally();
const { runDevicePluginConfig } = await import("./device-plugin-config.ts");
const exitCode = await runDevicePluginConfig();
// Idle connections would keep the process alive.
process.exit(exitCode);
