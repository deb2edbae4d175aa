// SPDX-License-Identifier: Apache-2.0
/**
 * SriovOperatorConfig configures the components that the operator deploys (sriov-operator.md A.6). The operator only
 * reads the object named "default" in its own namespace. The CRD's descriptions are generated from the JSDoc in this
 * file: `npm run generate`.
 */
import { ageColumn, readyColumn, reasonColumn, type CustomResource } from "./custom-resource.ts";
import type { ObjectMeta, ObjectStatus } from "../kubernetes/metadata.ts";
import type { OvnHardwareOffload, OvnHardwareOffloadStatus } from "./ovn-hardware-offload.ts";

export const sriovOperatorConfigs = {
  group: "sriovnetwork.openshift.io",
  version: "v1",
  kind: "SriovOperatorConfig",
  plural: "sriovoperatorconfigs",
  namespaced: true,
  columns: [
    { name: "Mode", type: "string", jsonPath: ".spec.configurationMode", wide: true },
    { name: "Log Level", type: "integer", jsonPath: ".spec.logLevel", wide: true },
    readyColumn,
    reasonColumn,
    ageColumn,
  ],
} as const satisfies CustomResource;

/**
 * SriovOperatorConfig configures the operator and the components that it deploys. The operator only reads the object
 * named default in its own namespace.
 */
export interface SriovOperatorConfig {
  readonly apiVersion: "sriovnetwork.openshift.io/v1";
  readonly kind: "SriovOperatorConfig";
  readonly metadata: ObjectMeta;
  /** Desired state of the operator's components. */
  readonly spec?: SriovOperatorConfigSpec;
  /** Observed state of the operator's components, written by the operator. */
  readonly status?: SriovOperatorConfigStatus;
}

/** Desired state of a SriovOperatorConfig. */
export interface SriovOperatorConfigSpec {
  /**
   * Selects the nodes that run the config daemon: those with all of these labels. If empty or absent, Linux nodes with
   * the label node-role.kubernetes.io/worker are selected.
   */
  readonly configDaemonNodeSelector?: Readonly<Record<string, string>>;
  /**
   * Whether to deploy the network resources injector, which adds the resource requests of a pod's networks to the pod.
   * Default: false.
   */
  readonly enableInjector?: boolean;
  /** Whether to deploy the admission webhook, which validates objects of this API group. Default: false. */
  readonly enableOperatorWebhook?: boolean;
  /**
   * Log verbosity of the operator and the config daemon, from 0 (least) to 2 (most). By default, each process uses its
   * own flag for the log level.
   * @asType integer
   * @minimum 0
   * @maximum 2
   */
  readonly logLevel?: number;
  /**
   * Whether nodes are configured without draining them first. Pods that use VFs may then lose their network. Default:
   * false.
   */
  readonly disableDrain?: boolean;
  /**
   * Has no effect. The field is kept so that stored objects stay valid.
   * @deprecated
   */
  readonly enableOvsOffload?: boolean;
  /**
   * How nodes are configured: by the running config daemon (daemon, the default), or by systemd units during boot
   * (systemd). In systemd mode, a node with another configuration is drained and reboots. systemd is not supported on
   * OpenShift clusters with a hosted control plane, where the config daemon configures the nodes.
   */
  readonly configurationMode?: "daemon" | "systemd";
  /**
   * How policies for network cards that are not in the list of supported cards are treated: the webhook warns about
   * them (warn, the default) or rejects them (strict). The ConfigMap supported-nic-ids adds cards to the list.
   */
  readonly supportedNics?: "strict" | "warn";
  /** Whether the device plugin passes devices to pods through the Container Device Interface (CDI). Default: false. */
  readonly useCDI?: boolean;
  /**
   * Vendor-specific parts of the config daemon to disable. With mellanox, firmware settings of Mellanox cards are neither
   * read nor changed; a policy that needs other settings is reported as an error on the node.
   */
  readonly disablePlugins?: readonly "mellanox"[];
  /**
   * Feature gates to turn on (true) or off (false): parallelNicConfig, resourceInjectorMatchCondition, metricsExporter,
   * manageSoftwareBridges, blockDevicePluginUntilConfigured and mellanoxFirmwareReset. The first and the last
   * two are on by default, the others off. Unknown names have no effect.
   */
  readonly featureGates?: Readonly<Record<string, boolean>>;
  /**
   * Environment variables of the config daemon. Allowed are CONNECTIVITY_TIMEOUT, LOG_LEVEL, MAX_PFS, METRICS_ADDRESS, STATE_DIRECTORY,
   * USE_EXTERNAL_DRAINER, UV_THREADPOOL_SIZE, TZ, and HTTP_PROXY, HTTPS_PROXY, NO_PROXY and ALL_PROXY in upper or lower case. Other variables
   * are not passed on, because the daemon's container is privileged.
   * @maxProperties 256
   * @x-kubernetes-validations [{
   *   rule: "self.all(name, name.matches('^[-._a-zA-Z][-._a-zA-Z0-9]*$'))",
   *   message: "must be names of environment variables: letters, digits, \"-\", \".\" and \"_\", not starting with a digit"
   * }]
   */
  readonly configDaemonEnvVars?: Readonly<Record<string, string>>;
  /**
   * Hosts whose OVN runs on their SmartNIC (NVIDIA BlueField-2 or -3). The service ovn-offload prepares them: Open vSwitch
   * is disabled, VFs are created, and VF 0 becomes the management port of OVN-Kubernetes. The hosts reboot. Removing an
   * entry restores what was there before.
   * @maxItems 64
   */
  readonly ovnHardwareOffload?: readonly OvnHardwareOffload[];
}

/** Observed state of a SriovOperatorConfig. */
export interface SriovOperatorConfigStatus extends ObjectStatus {
  /**
   * Not written by this release. See the conditions.
   * @deprecated
   */
  readonly injector?: string;
  /**
   * Not written by this release. See the conditions.
   * @deprecated
   */
  readonly operatorWebhook?: string;
  /**
   * State of spec.ovnHardwareOffload, one entry for each pool, including pools whose entry was removed until they are
   * restored. Written by the service ovn-offload.
   */
  readonly ovnHardwareOffload?: readonly OvnHardwareOffloadStatus[];
}
