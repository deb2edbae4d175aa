// SPDX-License-Identifier: Apache-2.0
/**
 * Defines the flags of this process. It runs twice in the pod of the device plugin, from the same image: as an init container
 * with --wait, and as a sidecar ("follower") without it. The pod needs:
 *
 * - An emptyDir volume at the directory of --config-file in the init container, the sidecar and the plugin. The plugin gets the
 *   same --config-file.
 * - `shareProcessNamespace: true`, because the follower ends the plugin by a signal. The follower has the user and the
 *   privileges of the plugin: AppArmor and SELinux do not allow a confined process to signal an unconfined one.
 * - The kubelet's directory pod-resources in both, so that VFs of running pods are not offered under another name. No other mount
 *   of the host: in each container, /sys shows the PCI devices of the host and /proc shows its boot_id.
 * - A command that restarts the plugin when it ends, such as
 *   `trap 'kill $!; wait $!; exit' TERM; while :; do sriovdp … & wait $!; sleep 1; done`, where $! in the trap is the running
 *   plugin. Without it, the kubelet delays the restart of a container that ended twice within minutes by 10 s, 20 s, and up
 *   to 5 minutes.
 * - With --plugin=afxdp, pod-resources only in the sidecar, /tmp/afxdp_dp of the host in the sidecar, and
 *   /var/lib/switchyard/upstream-devices of the host in both.
 */
import { flag, integer, nodeFlags, oneOf, text, yesOrNo, type FlagsOf } from "@switchyard/service";

/** Values of devicePluginConfigFlags. */
export type DevicePluginConfigFlags = typeof devicePluginConfigFlags extends FlagsOf<infer Values> ? Values : never;

export const devicePluginConfigFlags = {
  nodeName: nodeFlags.nodeName,
  plugin: flag(oneOf("sriov", "afxdp"), {
    default: "sriov",
    env: "PLUGIN",
    help: "Device plugin to configure: that for SR-IOV, or that of afxdp-plugins-for-kubernetes (afxdp).",
  }),
  wait: flag(yesOrNo, {
    default: "false",
    env: "WAIT",
    help: "Write the configuration once, as soon as the node is configured, and exit.",
  }),
  blockUntilConfigured: flag(yesOrNo, {
    default: "true",
    env: "BLOCK_UNTIL_CONFIGURED",
    help:
      "Advertise only VFs that match the spec of the node and are not about to change " +
      "(feature gate blockDevicePluginUntilConfigured).",
  }),
  configFile: flag(text("FILE"), {
    default: "/etc/pcidp/config.json",
    env: "CONFIG_FILE",
    help: "Configuration file of the device plugin, in a directory that is shared with the plugin.",
  }),
  pluginProcess: flag(text("NAME"), {
    default: "sriovdp",
    env: "PLUGIN_PROCESS",
    help: "Name of the plugin process, which is restarted to read a new configuration.",
  }),
  kubeletDirectory: flag(text("DIR"), {
    default: "/var/lib/kubelet",
    env: "KUBELET_DIRECTORY",
    help: "Directory of the kubelet, with pod-resources. The kubelet says which pods have which devices.",
  }),
  podName: flag(text("NAME"), {
    env: "POD_NAME",
    help: "Name of the pod in which this process runs. A kubelet that does not list it has just started, and does not know its pods yet.",
  }),
  resourcePrefix: flag(text("PREFIX"), {
    default: "openshift.io",
    env: "RESOURCE_PREFIX",
    help: "Prefix of resource names, the part before the slash. The plugin must have the same prefix. Not used with --plugin=afxdp.",
  }),
  verbosity: flag(integer({ minimum: 0, maximum: 2 }), {
    env: "VERBOSITY",
    help: "With --plugin=afxdp, spec.logLevel of the AfxdpOperatorConfig, for this process and the plugin. Replaces --log-level.",
  }),
  hostRoot: flag(text("DIR"), {
    default: "/",
    env: "HOST_ROOT",
    help: "Directory with sys/bus/pci and proc/sys; with --plugin=afxdp, also with tmp/afxdp_dp and var/lib/switchyard/upstream-devices.",
  }),
};
