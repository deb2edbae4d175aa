// SPDX-License-Identifier: Apache-2.0
/**
 * Defines the flags of this process. Its pod runs in the network namespace of the host, as root and privileged, because it binds
 * drivers, loads modules and runs CNI plugins. It mounts the root of the host, with the network namespaces of pods, which are mounts that
 * are made later. There it writes to run/cdi, run/k8s.cni.cncf.io, var/lib/cni/switchyard and the directory of the kubelet.
 */
import { flag, nodeFlags, text, yesOrNo, type FlagsOf } from "@switchyard/service";

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
  attachNetworks: flag(yesOrNo, {
    default: "true",
    env: "ATTACH_NETWORKS",
    help: "Attach VFs to pods without Multus, if their claim names a NetworkAttachmentDefinition. Needs a container runtime with NRI.",
  }),
  nriSocket: flag(text("PATH"), {
    default: "/var/run/nri/nri.sock",
    env: "NRI_SOCKET",
    help: "Socket of the container runtime for plugins (NRI) on the host. Until it exists, no VF is attached without Multus.",
  }),
  cniBinDirectory: flag(text("DIR"), {
    default: "/opt/cni/bin",
    env: "CNI_BIN_DIRECTORY",
    help: "Directory of the CNI plugins on the host.",
  }),
};
