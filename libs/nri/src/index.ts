// SPDX-License-Identifier: Apache-2.0
/** A plugin of NRI (Node Resource Interface), by which container runtimes report the life of pods: ttrpc over a multiplexed Unix socket. */
export { connectPlugin, type PluginHandlers, type PluginOptions } from "./connect-plugin.ts";
export { NriError, type NriErrorCode } from "./nri-error.ts";
export type { PodSandbox, Registration, RuntimeInfo } from "./nri-messages.ts";
export { runPlugin, type RunPluginOptions } from "./run-plugin.ts";
