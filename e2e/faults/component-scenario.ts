// SPDX-License-Identifier: Apache-2.0
/** What the operator deploys comes, changes, is meddled with, and goes. */
import { nodes, operatorConfigName, sriovOperatorConfigs, type SriovOperatorConfigSpec } from "@switchyard/api";
import type { KubeObject } from "@switchyard/kube";
import { componentImageVariables } from "@switchyard/render";
import type { ClusterUsers } from "./cluster-users.ts";
import { has, ofKind, place, type Scenario } from "./scenario.ts";
import { daemonSets, serviceAccounts } from "./types.ts";

/** "--config-daemon-image" for configDaemon. */
const imageFlags = Object.keys(componentImageVariables).flatMap((name) => {
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
      name: "nodes are there",
      async act(users) {
        for (const role of roles) {
          const labels = { "kubernetes.io/os": "linux", [`node-role.kubernetes.io/${role}`]: "" };
          await users.apply(nodes, { metadata: { name: role, labels } });
        }
      },
      isDone: (objects) => ofKind(objects, "Node").length === roles.length,
    },
    {
      name: "much is deployed",
      act: (users) => configure(users, { enableInjector: true, featureGates: { metricsExporter: true } }),
      isDone: (objects) => isRolledOut(objects),
    },
    {
      name: "less and other is deployed",
      act: (users) => configure(users, { useCDI: true, configDaemonEnvVars: { LOG_LEVEL: "debug" } }),
      isDone: (objects) => isRolledOut(objects) && ofKind(objects, "DaemonSet").length === 2,
    },
    {
      name: "somebody meddles",
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
      name: "nothing is asked for any more",
      async act(users) {
        await users.delete(sriovOperatorConfigs, place(operatorConfigName));
        for (const role of roles) await users.delete(nodes, { name: role });
      },
      isDone: (objects) => ofKind(objects, "DaemonSet").length === 0 && ofKind(objects, "Node").length === 0,
    },
  ],
};

/** Deployed as configured, and no pod is missing. */
function isRolledOut(objects: readonly KubeObject[]): boolean {
  return has(objects, config, "Ready") && !has(objects, config, "Progressing");
}

async function configure(users: ClusterUsers, spec: SriovOperatorConfigSpec): Promise<void> {
  await users.apply(sriovOperatorConfigs, { metadata: place(operatorConfigName), spec: { ...spec } });
}
