// SPDX-License-Identifier: Apache-2.0
/**
 * Flags of the process beside those of every service, and what its pod needs. Both of its ways run in the device plugin's
 * pod, from one image: `--wait` as an init container, the follower, without it, as a sidecar.
 *
 * - A volume (emptyDir) at the directory of --config-file in these two and in the plugin, which gets the same --config-file.
 * - `shareProcessNamespace: true`: the follower ends the plugin by a signal. It runs as the plugin's user, and is privileged
 *   as the plugin is: AppArmor and SELinux let no confined process signal an unconfined one.
 * - Nothing of the host is mounted: /sys shows the host's PCI devices in each container, and /proc which boot this is.
 * - The plugin's command starts it again when it ends, as in
 *   `trap 'kill $!; wait $!; exit' TERM; while :; do sriovdp … & wait $!; sleep 1; done`, where the trap's $! is the plugin that
 *   runs when the signal comes: left to itself, the kubelet lets a container that ends twice within minutes wait for 10 s,
 *   then 20 s, up to 5 minutes.
 */
import { flag, text, yesOrNo, type FlagsOf } from "@switchyard/service";

/** Values of devicePluginConfigFlags. */
export type DevicePluginConfigFlags = typeof devicePluginConfigFlags extends FlagsOf<infer Values> ? Values : never;

export const devicePluginConfigFlags = {
  nodeName: flag(text("NAME"), { required: true, env: "NODE_NAME", help: "The node that this process runs on." }),
  wait: flag(yesOrNo, {
    default: "false",
    env: "WAIT",
    help: "Write the configuration once, as soon as the node is configured, and end.",
  }),
  blockUntilConfigured: flag(yesOrNo, {
    default: "true",
    env: "BLOCK_UNTIL_CONFIGURED",
    help:
      "Hand out no VF that is not yet, or not for long, what the node's spec asks for " +
      "(feature gate blockDevicePluginUntilConfigured).",
  }),
  configFile: flag(text("FILE"), {
    default: "/etc/pcidp/config.json",
    env: "CONFIG_FILE",
    help: "The device plugin's configuration, in a directory that the plugin sees, too.",
  }),
  pluginProcess: flag(text("NAME"), {
    default: "sriovdp",
    env: "PLUGIN_PROCESS",
    help: "Name of the plugin's program: the process that is to read the configuration anew.",
  }),
  hostRoot: flag(text("DIR"), {
    default: "/",
    env: "HOST_ROOT",
    help: "Where sys/bus/pci and proc/sys are found, which any container of the node has.",
  }),
};
