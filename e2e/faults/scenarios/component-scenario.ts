// SPDX-License-Identifier: Apache-2.0
/**
 * componentScenario deploys components, changes their configuration, deletes and changes deployed objects as a user
 * does, and removes all components.
 */
import { nodes, operatorConfigName, sriovOperatorConfigs, type SriovOperatorConfigSpec } from "@switchyard/api";
import type { KubeObject } from "@switchyard/kube";
import { componentImageVariables } from "@switchyard/render";
import type { ClusterUsers } from "../cluster-users.ts";
import { has, ofKind, place, type Scenario } from "./scenario.ts";
import { daemonSets, serviceAccounts } from "../types.ts";

/** Names of the image flags: "--config-daemon-image" for configDaemon. */
export const imageFlags = Object.keys(componentImageVariables).flatMap((name) => {
  const words = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return [`--${words}-image`, `registry.example/${words}:1`];
});

const roles = ["control-plane", "worker"];

const config = `SriovOperatorConfig ${operatorConfigName}`;

export const componentScenario: Scenario = {
  name: "components",
  flags: imageFlags,
  steps: [
    {
      name: "nodes are added",
      async act(users) {
        for (const role of roles) {
          const labels = { "kubernetes.io/os": "linux", [`node-role.kubernetes.io/${role}`]: "" };
          await users.apply(nodes, { metadata: { name: role, labels } });
        }
      },
      isDone: (objects) => ofKind(objects, "Node").length === roles.length,
    },
    {
      name: "all components are deployed",
      act: (users) => configure(users, { enableInjector: true, featureGates: { metricsExporter: true } }),
      isDone: (objects) => isRolledOut(objects),
    },
    {
      name: "fewer and changed components are deployed",
      act: (users) => configure(users, { useCDI: true, configDaemonEnvVars: { LOG_LEVEL: "debug" } }),
      isDone: (objects) => isRolledOut(objects) && ofKind(objects, "DaemonSet").length === 2,
    },
    {
      name: "a user deletes and changes deployed objects",
      async act(users) {
        await users.delete(daemonSets, place("sriov-device-plugin"));
        await users.delete(serviceAccounts, place("sriov-network-config-daemon"));
        const daemon = place("sriov-network-config-daemon");
        await users.apply(daemonSets, {
          metadata: daemon,
          spec: { template: { spec: { hostNetwork: false, nodeSelector: { rack: "9" } } } },
        });
      },
      isDone: (objects) => isRolledOut(objects) && ofKind(objects, "DaemonSet").length === 2,
    },
    {
      name: "all components are disabled",
      async act(users) {
        await users.delete(sriovOperatorConfigs, place(operatorConfigName));
        for (const role of roles) await users.delete(nodes, { name: role });
      },
      isDone: (objects) => ofKind(objects, "DaemonSet").length === 0 && ofKind(objects, "Node").length === 0,
    },
  ],
};

/** Reports whether all DaemonSets match the configuration and have all their pods. */
function isRolledOut(objects: readonly KubeObject[]): boolean {
  return has(objects, config, "Ready") && !has(objects, config, "Progressing");
}

async function configure(users: ClusterUsers, spec: SriovOperatorConfigSpec): Promise<void> {
  await users.apply(sriovOperatorConfigs, { metadata: place(operatorConfigName), spec: { ...spec } });
}
