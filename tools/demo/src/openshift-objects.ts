// SPDX-License-Identifier: Apache-2.0
/**
 * The objects of a small OpenShift cluster: pools, what its operators read, and what an administrator has configured before.
 * Usage: `for (const object of openshiftObjects) await testCluster.kubectl(["apply", "-f", "-"], object);`
 */
import { labels } from "@switchyard/api";

/** Pool of the hosts with SmartNICs. */
export const hostPool = "dpu-host";

export const hostRole = `node-role.kubernetes.io/${hostPool}`;

/** What an administrator has configured before. It must be the same at the end. */
export const administratorsObjects = [
  {
    apiVersion: "operator.openshift.io/v1",
    kind: "DNS",
    metadata: { name: "default" },
    spec: { nodePlacement: { nodeSelector: { "node-role.kubernetes.io/worker": "" } } },
  },
  {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "env-overrides", namespace: "openshift-ovn-kubernetes" },
    data: { _master: "OVN_KUBE_LOG_LEVEL=5" },
  },
] as const;

/** Namespaces first. */
export const openshiftObjects: readonly object[] = [
  ...["openshift-ovn-kubernetes", "openshift-network-operator"].map((name) => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name },
  })),
  pool("worker", ["worker"]),
  pool(hostPool, ["worker", hostPool]),
  {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineConfig",
    metadata: { name: "00-worker", labels: { [labels.machineConfigRole]: "worker" } },
    spec: {
      config: { ignition: { version: "3.2.0" }, systemd: { units: [{ name: "openvswitch.service", enabled: true }] } },
    },
  },
  {
    apiVersion: "config.openshift.io/v1",
    kind: "ClusterVersion",
    metadata: { name: "version" },
    spec: { clusterID: "00000000-0000-4000-8000-000000000000" },
  },
  ...administratorsObjects,
];

function pool(name: string, roles: readonly string[]): object {
  return {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineConfigPool",
    metadata: { name },
    spec: {
      machineConfigSelector: { matchExpressions: [{ key: labels.machineConfigRole, operator: "In", values: roles }] },
      nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: "" } },
    },
  };
}
