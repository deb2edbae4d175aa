// SPDX-License-Identifier: Apache-2.0
/**
 * SriovOperatorConfig: what runs in the cluster and how (sriov-operator.md A.6). Only the object named "default" in the
 * operator's namespace is honoured. The JSDoc here is the CRD's text: `npm run generate`.
 */
import { ageColumn, readyColumn, reasonColumn, type CustomResource } from "./custom-resource.ts";
import type { ObjectMeta, ObjectStatus } from "../kubernetes/metadata.ts";

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

/** What of the operator runs in the cluster, and how. Only the object named default in its namespace is honoured. */
export interface SriovOperatorConfig {
  readonly apiVersion: "sriovnetwork.openshift.io/v1";
  readonly kind: "SriovOperatorConfig";
  readonly metadata: ObjectMeta;
  /** What is wanted. */
  readonly spec?: SriovOperatorConfigSpec;
  /** What became of it. */
  readonly status?: SriovOperatorConfigStatus;
}

/** What is wanted. */
export interface SriovOperatorConfigSpec {
  /**
   * Labels of the nodes that run the config daemon and are configured. Empty selects Linux nodes with the role worker.
   */
  readonly configDaemonNodeSelector?: Readonly<Record<string, string>>;
  /** Run the network resources injector, which adds resource requests to pods by their networks. */
  readonly enableInjector?: boolean;
  /** Run the admission webhook for the operator's own kinds. */
  readonly enableOperatorWebhook?: boolean;
  /**
   * How much is logged: 0 the least, 2 everything.
   * @asType integer
   * @minimum 0
   * @maximum 2
   */
  readonly logLevel?: number;
  /** Configure nodes without draining them first. Pods that use their VFs lose them. */
  readonly disableDrain?: boolean;
  /**
   * Has no effect; kept so that stored objects stay valid.
   * @deprecated
   */
  readonly enableOvsOffload?: boolean;
  /**
   * Who configures nodes: the running daemon, also when absent, or systemd units at boot, so that each change reboots.
   * In this release the daemon does, also with systemd.
   */
  readonly configurationMode?: "daemon" | "systemd";
  /**
   * What the webhook answers to a policy that names network cards which are not known to work: a warning, also when
   * absent, or with strict a refusal. Cards are added to the known ones by the ConfigMap supported-nic-ids.
   */
  readonly supportedNics?: "strict" | "warn";
  /** Hand devices to pods by the Container Device Interface (CDI). */
  readonly useCDI?: boolean;
  /** Vendor parts of the daemon that shall not run: mellanox is the only one that can be left out. This release has none. */
  readonly disablePlugins?: readonly "mellanox"[];
  /**
   * Features to switch on or off: parallelNicConfig, resourceInjectorMatchCondition, metricsExporter,
   * manageSoftwareBridges, blockDevicePluginUntilConfigured, mellanoxFirmwareReset. Other names mean nothing.
   */
  readonly featureGates?: Readonly<Record<string, boolean>>;
  /**
   * Environment variables for the config daemon: LOG_LEVEL, MAX_PFS, METRICS_ADDRESS, USE_EXTERNAL_DRAINER,
   * UV_THREADPOOL_SIZE, TZ, and HTTP_PROXY, HTTPS_PROXY, NO_PROXY, ALL_PROXY also in lower case. Others are not passed on,
   * as the daemon's container is privileged.
   * @maxProperties 256
   * @x-kubernetes-validations [{
   *   rule: "self.all(name, name.matches('^[-._a-zA-Z][-._a-zA-Z0-9]*$'))",
   *   message: "must be names of environment variables: letters, digits, \"-\", \".\" and \"_\", with no digit first"
   * }]
   */
  readonly configDaemonEnvVars?: Readonly<Record<string, string>>;
}

/** What became of it. */
export interface SriovOperatorConfigStatus extends ObjectStatus {
  /**
   * Nobody writes it: see the conditions.
   * @deprecated
   */
  readonly injector?: string;
  /**
   * Nobody writes it: see the conditions.
   * @deprecated
   */
  readonly operatorWebhook?: string;
}
