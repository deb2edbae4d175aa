// SPDX-License-Identifier: Apache-2.0
/**
 * Defines the flags of this process. Its pod runs in the network namespace of the host, as root with the capabilities NET_ADMIN, BPF,
 * SYS_ADMIN (to find programs by their ids), CHOWN and DAC_OVERRIDE. It mounts these directories of the host at the same paths: the
 * kubelet's device-plugins and pod-resources, those of --socket-directory and --record-file, and --bpf-directory;
 * with --loader bpfman also --program-directory.
 */
import { afxdpPluginRecord, bpfmanProgramDirectory } from "@switchyard/api";
import { flag, integer, nodeFlags, oneOf, text } from "@switchyard/service";

export const afxdpDevicePluginFlags = {
  nodeName: nodeFlags.nodeName,
  kubeletDirectory: flag(text("DIR"), {
    default: "/var/lib/kubelet",
    env: "KUBELET_DIRECTORY",
    help: "Directory of the kubelet, with device-plugins and pod-resources.",
  }),
  socketDirectory: flag(text("DIR"), {
    default: "/run/switchyard/afxdp",
    env: "SOCKET_DIRECTORY",
    help: "Directory for the sockets by which pods get XSK maps. Pods mount directories in it, so it is the same on the host.",
  }),
  bpfDirectory: flag(text("DIR"), {
    default: "/sys/fs/bpf",
    env: "BPF_DIRECTORY",
    help: "BPF file system of the host, for the XSK maps. It is at the same path on the host.",
  }),
  recordFile: flag(text("FILE"), {
    default: afxdpPluginRecord,
    env: "RECORD_FILE",
    help: "File that has the pools, for the next start of this process. It must be on the host.",
  }),
  loader: flag(oneOf("builtin", "bpfman"), {
    default: "builtin",
    env: "LOADER",
    help: "spec.loader of the AfxdpOperatorConfig: who loads the XDP programs, this process (builtin) or bpfman.",
  }),
  programDirectory: flag(text("DIR"), {
    default: bpfmanProgramDirectory,
    env: "PROGRAM_DIRECTORY",
    help: "Directory on the host for the program that bpfman loads. Only used with --loader bpfman.",
  }),
  verbosity: flag(integer({ minimum: 0, maximum: 2 }), {
    env: "VERBOSITY",
    help: "spec.logLevel of the AfxdpOperatorConfig: 0 for warn, 1 for info, 2 for debug. Replaces --log-level.",
  }),
};
