// SPDX-License-Identifier: Apache-2.0
/** A plugin of NRI (Node Resource Interface), by which container runtimes report the life of pods: ttrpc over a multiplexed Unix socket. */
export type { PluginHandlers } from "./connect-plugin.ts";
export type { PodSandbox } from "./nri-messages.ts";
export { runPlugin } from "./run-plugin.ts";
