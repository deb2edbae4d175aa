// SPDX-License-Identifier: Apache-2.0
/**
 * AfxdpOperatorConfig configures the components for AF_XDP (eve-and-afxdp.md b4). The operator only reads the object named
 * "default" in its own namespace. The CRD's descriptions are generated from the JSDoc in this file: `npm run generate`.
 */
import type { ObjectMeta, ObjectStatus } from "../../kubernetes/metadata.ts";
import { ageColumn, readyColumn, reasonColumn, type CustomResource } from "../custom-resource.ts";

export const afxdpOperatorConfigs = {
  group: "afxdpnetwork.hns.dev",
  version: "v1alpha1",
  kind: "AfxdpOperatorConfig",
  plural: "afxdpoperatorconfigs",
  namespaced: true,
  columns: [
    { name: "Provider", type: "string", jsonPath: ".spec.provider" },
    { name: "Loader", type: "string", jsonPath: ".spec.loader", wide: true },
    readyColumn,
    reasonColumn,
    ageColumn,
  ],
} as const satisfies CustomResource;

/**
 * AfxdpOperatorConfig configures the components that offer AF_XDP devices to pods. The operator only reads the object named
 * default in its own namespace. Without it, the operator manages no AF_XDP devices.
 */
export interface AfxdpOperatorConfig {
  readonly apiVersion: "afxdpnetwork.hns.dev/v1alpha1";
  readonly kind: "AfxdpOperatorConfig";
  readonly metadata: ObjectMeta;
  /** Desired state of the components. */
  readonly spec?: AfxdpOperatorConfigSpec;
  /** Observed state of the components, written by the operator. */
  readonly status?: ObjectStatus;
}

/** Who provides the device plugin and the CNI plugin: Switchyard or the project afxdp-plugins-for-kubernetes. */
export type AfxdpProvider = "switchyard" | "upstream";

/** Who loads the XDP programs: the device plugin (builtin) or bpfman. */
export type AfxdpLoader = "builtin" | "bpfman";

/**
 * Desired state of an AfxdpOperatorConfig.
 * @x-kubernetes-validations [{
 *   rule: "!has(self.loader) || self.loader != 'bpfman' || !has(self.provider) || self.provider == 'switchyard'",
 *   message: "requires provider switchyard: the device plugin of upstream loads its own program",
 *   fieldPath: ".loader",
 *   fields: ["loader", "provider"]
 * }]
 */
export interface AfxdpOperatorConfigSpec {
  /**
   * Who provides the device plugin and the CNI plugin: Switchyard, with the CNI plugin host-device (switchyard), or the
   * project afxdp-plugins-for-kubernetes, which is no longer maintained (upstream). The operator deploys either. The plugins of
   * upstream offer no subfunctions, and leave out devices whose names begin with eno, eth, lo, docker, flannel or cni.
   * @default switchyard
   */
  readonly provider?: AfxdpProvider;
  /**
   * Who loads the XDP programs: the device plugin (builtin) or bpfman, which must be installed in the cluster (bpfman).
   * @default builtin
   */
  readonly loader?: AfxdpLoader;
  /** Which program bpfman loads, and how. Only used with loader bpfman. */
  readonly bpfman?: AfxdpBpfmanSettings;
  /**
   * Selects the nodes that have AF_XDP devices: those with all of these labels. If empty or absent, Linux nodes with the
   * label node-role.kubernetes.io/worker are selected.
   */
  readonly configDaemonNodeSelector?: Readonly<Record<string, string>>;
  /**
   * Whether the admission webhook is deployed. If there is a SriovOperatorConfig, only its field of this name counts.
   * Default: false.
   */
  readonly enableOperatorWebhook?: boolean;
  /**
   * Log verbosity of the device plugin and, if there is no SriovOperatorConfig, of the config daemon, from 0 (least) to 2
   * (most). By default, each process uses its own flag for the log level.
   * @asType integer
   * @minimum 0
   * @maximum 2
   */
  readonly logLevel?: number;
  /**
   * Whether nodes are configured without draining them first. Pods that use AF_XDP devices may then lose their network.
   * Default: false.
   */
  readonly disableDrain?: boolean;
}

/** Program that bpfman loads for each AF_XDP device. */
export interface AfxdpBpfmanSettings {
  /**
   * Program to load. By default, the program of Switchyard, which the device plugin writes to each node as
   * /var/lib/bpfman/switchyard/xsk_redirect.o.
   */
  readonly program?: AfxdpBpfmanProgram;
  /**
   * Priority of the program among the XDP programs that bpfman runs on a device, from 0 (first) to 1000 (last). Programs that
   * run before it must let packets pass.
   * @asType integer
   * @default 1000
   * @minimum 0
   * @maximum 1000
   */
  readonly priority?: number;
}

/**
 * An XDP program with an XSK map of the name xsks_map, to which it redirects packets.
 * @x-kubernetes-validations [{
 *   rule: "has(self.image) != has(self.path)",
 *   message: "must have exactly one of image and path"
 * }]
 */
export interface AfxdpBpfmanProgram {
  /**
   * Name of the program's function in the bytecode.
   * @maxLength 64
   * @x-kubernetes-validations [{
   *   rule: "self.matches('^[a-zA-Z][a-zA-Z0-9_]+$')",
   *   message: "must be the name of a function, at least 2 letters, digits and \"_\": \"xsk_def_prog\""
   * }]
   */
  readonly functionName: string;
  /** Container image with the bytecode, which bpfman pulls. */
  readonly image?: AfxdpBpfmanImage;
  /**
   * Absolute path of a file with the bytecode on each node. The container of bpfman must have the file at the same path:
   * it mounts, for example, /var/lib/bpfman and /run/bpfman of the node.
   * @maxLength 1024
   * @x-kubernetes-validations [{
   *   rule: "self.matches('^/[a-zA-Z0-9._/-]+$') && !self.contains('..')",
   *   message: "must be an absolute path of letters, digits, \".\", \"_\", \"-\" and \"/\", without \"..\": \"/var/lib/bpfman/xdp.o\""
   * }]
   */
  readonly path?: string;
}

/** A container image with bytecode. */
export interface AfxdpBpfmanImage {
  /**
   * Reference of the image: "quay.io/bpfman-bytecode/xdp_pass:latest".
   * @minLength 1
   * @maxLength 525
   */
  readonly url: string;
  /**
   * When bpfman pulls the image.
   * @default IfNotPresent
   */
  readonly imagePullPolicy?: "Always" | "Never" | "IfNotPresent";
  /** Secret with the credentials for the registry. By default, the image is pulled without credentials. */
  readonly imagePullSecret?: AfxdpBpfmanPullSecret;
}

/** A Secret with the credentials for a registry. */
export interface AfxdpBpfmanPullSecret {
  /**
   * Name of the Secret.
   * @minLength 1
   * @maxLength 253
   */
  readonly name: string;
  /**
   * Namespace of the Secret.
   * @minLength 1
   * @maxLength 63
   */
  readonly namespace: string;
}
