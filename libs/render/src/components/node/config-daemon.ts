// SPDX-License-Identifier: Apache-2.0
/** The config daemon on each node of the node set, and the CNI plugins that it installs (sriov-operator.md F, H). */
import type { SriovOperatorConfigSpec } from "@switchyard/api";
import { isGateOn, checkDaemonVariable } from "@switchyard/policy";
import { accessObjects, eventRule, privilegedRules, readConfigRule } from "../rights/access.ts";
import { cniInstallers, cniVolumes } from "./cni-installers.ts";
import { namespaced, type Component, type ComponentInput } from "../component.ts";
import type { PolicyRule } from "../objects/kube-objects.ts";
import {
  daemonSet,
  everyTaint,
  fromField,
  fromValues,
  nodeSetSelector,
  ownNamespace,
  probesAt,
  requests,
} from "../objects/pod-parts.ts";
import type { Container, EnvVar } from "../objects/pod-template.ts";
import { fieldsWithoutEffect } from "../without-effect.ts";

const component = "config-daemon";
const name = "sriov-network-config-daemon";

/** On the node's loopback, as the pod has the node's network. Below the ports of NodePorts and of outgoing connections. */
const healthPort = 29118;

/** What decides who the daemon is and where it is looked after: nobody else's to set. */
const identity: readonly EnvVar[] = [
  fromField("NODE_NAME", "spec.nodeName"),
  fromField("POD_NAME", "metadata.name"),
  ownNamespace,
  ...fromValues({ HOST_ROOT: "/host", HEALTH_ADDRESS: `127.0.0.1:${healthPort}` }),
];

/** What it does with its token. That it is on its own node alone, node-identity.ts sees to. */
const namespaceRules: readonly PolicyRule[] = [
  {
    apiGroups: ["sriovnetwork.openshift.io"],
    resources: ["sriovnetworknodestates"],
    verbs: ["get", "list", "watch", "patch"],
  },
  { apiGroups: ["sriovnetwork.openshift.io"], resources: ["sriovnetworknodestates/status"], verbs: ["patch"] },
  readConfigRule,
  eventRule,
];

const clusterRules: readonly PolicyRule[] = [{ apiGroups: [""], resources: ["nodes"], verbs: ["patch"] }];

export const configDaemon: Component = {
  name: component,
  isWanted: () => true,
  needs: ["configDaemon", "sriovCni", "ibSriovCni"],
  check: ({ config: { spec = {} } }) =>
    [...fieldsWithoutEffect(spec), ...droppedVariables(spec)].map((problem) => ({ severity: "warning", ...problem })),
  render: (input) => [
    ...accessObjects(
      component,
      {
        serviceAccount: name,
        inNamespace: { role: name, binding: name, rules: [...namespaceRules, ...privilegedRules(input)] },
        inCluster: { role: name, binding: name, rules: clusterRules },
      },
      input,
    ),
    daemonSet(
      namespaced(component, name, input),
      {
        app: name,
        securityContextConstraints: "privileged",
        spec: {
          ...{ serviceAccountName: name, priorityClassName: "system-node-critical" },
          ...{ hostNetwork: true, nodeSelector: nodeSetSelector(input), tolerations: everyTaint },
          initContainers: cniInstallers(input.settings),
          containers: [daemonContainer(input)],
          volumes: [
            { name: "host", hostPath: { path: "/" } },
            { name: "tmp", emptyDir: {} },
            ...cniVolumes(input.settings),
          ],
        },
      },
      input,
    ),
  ],
};

/** Stored before they were refused, or past a webhook that was off. */
function droppedVariables({ configDaemonEnvVars = {} }: SriovOperatorConfigSpec) {
  return Object.entries(configDaemonEnvVars).flatMap(([name, value]) => {
    const verdict = checkDaemonVariable(name, value);
    if (verdict.use === "passed") return [];
    const message = verdict.use === "ignored" ? verdict.message : `is not passed on: ${verdict.message}`;
    return [{ field: `spec.configDaemonEnvVars.${name}`, message }];
  });
}

function daemonContainer(input: ComponentInput): Container {
  return {
    name,
    image: input.settings.images.configDaemon ?? "",
    env: daemonEnv(input),
    securityContext: { privileged: true, readOnlyRootFilesystem: true },
    resources: requests("100m", "100Mi"),
    ...probesAt(healthPort, "127.0.0.1"),
    volumeMounts: [
      { name: "host", mountPath: "/host" },
      { name: "tmp", mountPath: "/tmp" },
    ],
  };
}

/** Where the cluster's service address may not work before the daemon has done its work. */
const kubeletConfig = "/host/etc/kubernetes/kubeconfig";

/** Users' values come before those that follow from other settings. */
function daemonEnv({ config, settings }: ComponentInput): readonly EnvVar[] {
  const fromSettings = {
    USE_EXTERNAL_DRAINER: settings.useExternalDrainer ? "true" : undefined,
    MAX_PFS: isGateOn("parallelNicConfig", config) ? undefined : "1",
    API_SERVER_FROM: settings.clusterType === "openshift" ? kubeletConfig : undefined,
  };
  const users = Object.entries(config.spec?.configDaemonEnvVars ?? {}).filter(([name, value]) => {
    return checkDaemonVariable(name, value).use === "passed";
  });
  const others = fromValues({ ...fromSettings, ...Object.fromEntries(users) });
  return [...identity, ...others.toSorted((a, b) => (a.name < b.name ? -1 : 1))];
}
