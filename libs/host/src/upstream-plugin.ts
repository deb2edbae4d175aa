// SPDX-License-Identifier: Apache-2.0
/**
 * The files that the plugin of upstream leaves, and the records of its devices, without netlink and koffi, for the process beside the
 * plugin. It is the package's export "@switchyard/host/upstream-plugin".
 */
export {
  pluginDirectories,
  recordUpstreamDevices,
  type GivenDevice,
} from "./linux/upstream-plugin/upstream-device-record.ts";
export { removeUnusedSockets } from "./linux/upstream-plugin/plugin-sockets.ts";
