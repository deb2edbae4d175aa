// SPDX-License-Identifier: Apache-2.0
/**
 * The process of the config daemon. It imports the daemon only after runFrugally, which starts the process again: the first
 * process would load the daemon in vain.
 */
import { runFrugally } from "@switchyard/service/memory";

runFrugally();
const { runConfigDaemon } = await import("./config-daemon.ts");
const exitCode = await runConfigDaemon();
// Idle connections and watches of the kernel would keep the process alive.
process.exit(exitCode);
