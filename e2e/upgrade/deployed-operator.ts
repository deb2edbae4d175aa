// SPDX-License-Identifier: Apache-2.0
/**
 * installOperator runs Switchyard's operator in the place of upstream's operator, as a Deployment does: with the rights
 * of its service account, and configured only by upstream's environment variables (sriov-operator.md H).
 */
import { namespace } from "@switchyard/test-cluster";
import { operatorIdentity } from "@switchyard/render";
import { findWorkspaceRoot, spawnGuarded, type GuardedProcess } from "@switchyard/testing";
import { join } from "node:path";
import { componentSettings } from "../src/operator/identity-objects.ts";
import type { UpstreamCluster } from "../src/operator/upstream-cluster.ts";

/** Name of the service account, and of the ClusterRole that owns the cluster-scoped objects. */
export const operatorAccount = componentSettings.operatorServiceAccount;

/** The user that Switchyard's webhook exempts: the API server does not call the webhook for its requests. */
export const operatorUser = `system:serviceaccount:${namespace}:${operatorAccount}`;

/** An image of upstream's release, and one of Switchyard's. */
const upstreams = (name: string) => `example.com/upstream/${name}:1.6.0`;
const ours = (name: string) => `example.com/switchyard/${name}:1`;

/** Images of other projects. They do not change when Switchyard replaces upstream's operator. */
export const foreignImages = {
  SRIOV_CNI_IMAGE: upstreams("sriov-cni"),
  SRIOV_INFINIBAND_CNI_IMAGE: upstreams("ib-sriov-cni"),
  OVS_CNI_IMAGE: upstreams("ovs-cni"),
  RDMA_CNI_IMAGE: upstreams("rdma-cni"),
  SRIOV_DEVICE_PLUGIN_IMAGE: upstreams("sriov-network-device-plugin"),
  NETWORK_RESOURCES_INJECTOR_IMAGE: upstreams("network-resources-injector"),
  METRICS_EXPORTER_IMAGE: upstreams("sriov-network-metrics-exporter"),
  METRICS_EXPORTER_KUBE_RBAC_PROXY_IMAGE: upstreams("kube-rbac-proxy"),
} as const;

/** Images of upstream's own programs. */
export const upstreamImages = {
  SRIOV_NETWORK_CONFIG_DAEMON_IMAGE: upstreams("sriov-network-operator-config-daemon"),
  SRIOV_NETWORK_WEBHOOK_IMAGE: upstreams("sriov-network-operator-webhook"),
} as const;

/** Images of Switchyard's own programs. Only these variables change in the environment (docs/guide/upgrade.md). */
export const ownImages = {
  SRIOV_NETWORK_CONFIG_DAEMON_IMAGE: ours("config-daemon"),
  SRIOV_NETWORK_WEBHOOK_IMAGE: ours("webhook"),
  DEVICE_PLUGIN_CONFIG_IMAGE: ours("device-plugin-config"),
  SRIOV_DRA_DRIVER_IMAGE: ours("dra-driver"),
} as const satisfies Readonly<Record<keyof typeof upstreamImages, string>> & Readonly<Record<string, string>>;

/**
 * Returns the variables that upstream's chart sets when webhooks and a Prometheus operator are enabled. `caBundle` is
 * the certificate authority of both webhooks.
 */
export function upstreamEnvironment(caBundle: string): Readonly<Record<string, string>> {
  return {
    ...foreignImages,
    ...upstreamImages,
    NAMESPACE: namespace,
    WATCH_NAMESPACE: namespace,
    OPERATOR_NAME: "sriov-network-operator",
    POD_NAME: "sriov-network-operator-0",
    NODE_NAME: "control-1",
    RELEASE_VERSION: "1.6.0",
    CLUSTER_TYPE: "kubernetes",
    RESOURCE_PREFIX: "openshift.io",
    SRIOV_CNI_BIN_PATH: "/opt/cni/bin",
    IMAGE_PULL_SECRETS: "",
    DEV_MODE: "",
    STALE_NODE_STATE_CLEANUP_DELAY_MINUTES: "30",
    TLS_MIN_VERSION: "",
    TLS_CIPHER_SUITES: "",
    TLS_CURVE_PREFERENCES: "",
    METRICS_EXPORTER_PORT: "9110",
    METRICS_EXPORTER_SECRET_NAME: "metrics-exporter-cert",
    METRICS_EXPORTER_PROMETHEUS_OPERATOR_ENABLED: "true",
    METRICS_EXPORTER_PROMETHEUS_DEPLOY_RULES: "true",
    METRICS_EXPORTER_PROMETHEUS_OPERATOR_SERVICE_ACCOUNT: "prometheus-k8s",
    METRICS_EXPORTER_PROMETHEUS_OPERATOR_NAMESPACE: "monitoring",
    OPERATOR_WEBHOOK_NETWORK_POLICY_PORT: "6443",
    INJECTOR_WEBHOOK_NETWORK_POLICY_PORT: "6443",
    ADMISSION_CONTROLLERS_CERTIFICATES_OPERATOR_SECRET_NAME: "operator-webhook-cert",
    ADMISSION_CONTROLLERS_CERTIFICATES_INJECTOR_SECRET_NAME: "network-resources-injector-cert",
    ADMISSION_CONTROLLERS_CERTIFICATES_OPERATOR_CA_CRT: caBundle,
    ADMISSION_CONTROLLERS_CERTIFICATES_INJECTOR_CA_CRT: caBundle,
  };
}

export interface DeployedOperator {
  /** Creates the service account and the roles, or those that are missing. */
  install(): Promise<void>;
  start(): void;
  /**
   * Stops the operator as scaling its Deployment to 0 does: sends SIGTERM and waits until it exits. Rejects if the exit
   * status is not 0.
   */
  stop(): Promise<void>;
}

/**
 * Installs the operator without starting it. `environment` is upstream's; the images of upstream's own programs are
 * replaced.
 */
export async function installOperator(
  testCluster: UpstreamCluster,
  environment: Readonly<Record<string, string>>,
): Promise<DeployedOperator> {
  const clusterType = environment["CLUSTER_TYPE"] === "openshift" ? "openshift" : "kubernetes";
  const items = operatorIdentity({ ...componentSettings, clusterType });
  const identity = { apiVersion: "v1", kind: "List", items };
  const install = async () => {
    await testCluster.kubectl(["apply", "--server-side", "-f", "-"], identity);
  };
  await install();
  const token = (await testCluster.kubectl(["create", "token", operatorAccount])).trim();
  const variables = { ...environment, ...ownImages, KUBECONFIG: await testCluster.cluster.clientFor({ token }) };
  let running: GuardedProcess | undefined;

  return {
    install,
    start() {
      const assignments = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
      const main = join(findWorkspaceRoot(), "apps/operator/src/main.ts");
      const log = join(testCluster.directory, "operator.log");
      running = spawnGuarded("/usr/bin/env", ["-i", ...assignments, process.execPath, main], { log });
    },
    async stop() {
      running?.signal("TERM");
      const status = await running?.exited;
      running = undefined;
      if (status !== undefined && status !== 0) throw new Error(`the operator ended with ${status}`);
    },
  };
}
