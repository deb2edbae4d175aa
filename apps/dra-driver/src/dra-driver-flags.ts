// SPDX-License-Identifier: Apache-2.0
/**
 * Defines the flags of this process. Its pod runs in the network namespace of the host, as root and privileged, because it binds
 * drivers and loads modules. It mounts the root of the host, whose directories run/cdi, run/k8s.cni.cncf.io and that of the kubelet it
 * writes to.
 */
import { flag, nodeFlags, text, type FlagsOf } from "@switchyard/service";

/** Values of draDriverFlags. */
export type DraDriverFlags = typeof draDriverFlags extends FlagsOf<infer Values> ? Values : never;

export const draDriverFlags = {
  nodeName: nodeFlags.nodeName,
  hostRoot: nodeFlags.hostRoot,
  kubeletDirectory: flag(text("DIR"), {
    default: "/var/lib/kubelet",
    env: "KUBELET_DIRECTORY",
    help: "Directory of the kubelet on the host, with plugins, plugins_registry and pod-resources.",
  }),
  resourcePrefix: flag(text("PREFIX"), {
    default: "openshift.io",
    env: "RESOURCE_PREFIX",
    help: "Prefix of resource names, the part before the slash. DeviceClasses must have the same prefix.",
  }),
};
