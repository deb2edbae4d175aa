// SPDX-License-Identifier: Apache-2.0
/**
 * SriovOperatorConfig: what runs in the cluster and how (sriov-operator.md A.6). Only the object named "default" in the
 * operator's namespace is honoured. The JSDoc here is the CRD's text: `npm run generate`.
 */
import type { Condition, ObjectMeta, ResourceType } from "./metadata.ts";

export const sriovOperatorConfigs = {
  group: "sriovnetwork.openshift.io",
  version: "v1",
  kind: "SriovOperatorConfig",
  plural: "sriovoperatorconfigs",
  namespaced: true,
} as const satisfies ResourceType;

/** What runs in the cluster and how. */
export interface SriovOperatorConfig {
  readonly apiVersion: "sriovnetwork.openshift.io/v1";
  readonly kind: "SriovOperatorConfig";
  readonly metadata: ObjectMeta;
  readonly spec?: SriovOperatorConfigSpec;
  readonly status?: SriovOperatorConfigStatus;
}

/** What is wanted. */
export interface SriovOperatorConfigSpec {
  /** Nodes that run the config daemon; empty selects Linux workers. */
  readonly configDaemonNodeSelector?: Readonly<Record<string, string>>;
  /** Run the network resources injector. */
  readonly enableInjector?: boolean;
  /** Run the admission webhook for our own kinds. */
  readonly enableOperatorWebhook?: boolean;
  /**
   * 0 errors and progress, 1 more, 2 all.
   * @asType integer
   * @minimum 0
   * @maximum 2
   */
  readonly logLevel?: number;
  /** Reconfigure nodes without draining them. */
  readonly disableDrain?: boolean;
  /** Has no effect; kept so that stored objects stay valid. */
  readonly enableOvsOffload?: boolean;
  /** Whether nodes are configured by the running daemon or by systemd units at boot. */
  readonly configurationMode?: "daemon" | "systemd";
  /** Offer devices by the Container Device Interface. */
  readonly useCDI?: boolean;
  /** Vendor parts of the daemon that shall not run. */
  readonly disablePlugins?: readonly "mellanox"[];
  /** Features to switch on or off by name. */
  readonly featureGates?: Readonly<Record<string, boolean>>;
  /** Environment variables of the config daemon. */
  readonly configDaemonEnvVars?: Readonly<Record<string, string>>;
}

/** What became of it. */
export interface SriovOperatorConfigStatus {
  /** Ready, Progressing, Degraded. */
  readonly conditions?: readonly Condition[];
  /**
   * metadata.generation that this status was judged from.
   * @asType integer
   */
  readonly observedGeneration?: number;
  /** State of the injector. */
  readonly injector?: string;
  /** State of the webhook. */
  readonly operatorWebhook?: string;
}
