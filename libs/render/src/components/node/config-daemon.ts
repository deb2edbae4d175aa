// SPDX-License-Identifier: Apache-2.0
/**
 * configDaemon deploys the config daemon on each node of the node set, with init containers that install the CNI
 * plugins (sriov-operator.md F, H).
 */
import { labels, machineConfigBootUnits, type SriovOperatorConfigSpec } from "@switchyard/api";
import { checkDaemonVariable, isGateOn } from "@switchyard/policy";
import { namespaced, type Component, type ComponentInput } from "../component.ts";
import type { Manifest, RbacRule } from "../objects/kube-objects.ts";
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
import type { ComponentProblem } from "../rendered-components.ts";
import { scrapeReviewRules, secureMetrics } from "../objects/metrics-port.ts";
import { accessObjects, eventRule, privilegedRules, readAfxdpConfigRule, readConfigRule } from "../rights/access.ts";
import { cniInstallers, cniVolumes } from "./cni-installers.ts";

/** Name of upstream's MachineConfig, which this one replaces. */
export const systemdModeConfigName = "sriov-config-service";

/** Upstream's role. On nodes without the program and its configuration, the units do nothing. */
const role = "worker";

const fields: readonly WithoutEffect[] = [
  {
    field: "spec.enableOvsOffload",
    message: "has no effect and should be removed",
    isSet: (spec) => "enableOvsOffload" in spec,
  },
];

interface WithoutEffect {
  readonly field: string;
  readonly message: string;
  readonly isSet: (spec: SriovOperatorConfigSpec) => boolean;
}

const component = "config-daemon";
const name = "sriov-network-config-daemon";

/**
 * Port on the node's loopback address, because the pod uses the node's network. It is below the ranges of NodePorts and
 * of local ports for outgoing connections.
 */
const healthPort = 29118;
const metricsPort = 29123;

/** Variables that identify the daemon and configure its probes. Users cannot set them. */
const identity: readonly EnvVar[] = [
  fromField("NODE_NAME", "spec.nodeName"),
  fromField("POD_NAME", "metadata.name"),
  ownNamespace,
  ...fromValues({ HOST_ROOT: "/host", HEALTH_ADDRESS: `127.0.0.1:${healthPort}` }),
];

/**
 * Rights of the daemon in the operator's namespace. node-identity.ts limits them to the objects of the daemon's own
 * node.
 */
const namespaceRules: readonly RbacRule[] = [
  {
    apiGroups: ["sriovnetwork.openshift.io"],
    resources: ["sriovnetworknodestates"],
    verbs: ["get", "list", "watch", "patch"],
  },
  { apiGroups: ["sriovnetwork.openshift.io"], resources: ["sriovnetworknodestates/status"], verbs: ["patch"] },
  readConfigRule,
  {
    apiGroups: ["afxdpnetwork.hns.dev"],
    resources: ["afxdpnetworknodestates"],
    verbs: ["get", "list", "watch", "patch"],
  },
  { apiGroups: ["afxdpnetwork.hns.dev"], resources: ["afxdpnetworknodestates/status"], verbs: ["patch"] },
  readAfxdpConfigRule,
  eventRule,
];

/** The daemon reads its node once, to learn from the providerID on which platform it runs. */
const clusterRules: readonly RbacRule[] = [{ apiGroups: [""], resources: ["nodes"], verbs: ["get", "patch"] }];

export const configDaemon: Component = {
  name: component,
  isWanted: () => true,
  needs: ["configDaemon", "sriovCni", "ibSriovCni"],
  check: (input) => {
    const { spec = {} } = input.config;
    const problems = [...fieldsWithoutEffect(spec), ...systemdModeProblems(input), ...droppedVariables(spec)];
    return problems.map((problem) => ({ severity: "warning", ...problem }));
  },
  render: (input) => [
    ...accessObjects(
      component,
      {
        serviceAccount: name,
        inNamespace: { role: name, binding: name, rules: [...namespaceRules, ...privilegedRules(input)] },
        inCluster: { role: name, binding: name, rules: [...clusterRules, ...scrapeReviewRules(input.settings)] },
      },
      input,
    ),
    daemonSet(
      namespaced(component, name, input),
      {
        app: name,
        securityContextConstraints: "privileged",
        spec: {
          serviceAccountName: name,
          priorityClassName: "system-node-critical",
          hostNetwork: true,
          nodeSelector: nodeSetSelector(input),
          tolerations: everyTaint,
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

/** A hosted control plane has no MachineConfigs, which install the units on OpenShift (sriov-operator.md F.11). */
function systemdModeProblems(input: ComponentInput) {
  if (input.config.spec?.configurationMode !== "systemd" || isSystemdMode(input)) return [];
  const message =
    "systemd is not supported on OpenShift clusters with a hosted control plane; the running config daemon configures the nodes";
  return [{ field: "spec.configurationMode", message }];
}

/** Returns warnings about variables that the webhook rejects, but that were stored while it was disabled or older. */
function droppedVariables({ configDaemonEnvVars = {} }: SriovOperatorConfigSpec) {
  return Object.entries(configDaemonEnvVars).flatMap(([name, value]) => {
    const checked = checkDaemonVariable(name, value);
    if (checked.use === "passed") return [];
    const message = checked.use === "ignored" ? checked.message : `is not passed on: ${checked.message}`;
    return [{ field: `spec.configDaemonEnvVars.${name}`, message }];
  });
}

function daemonContainer(input: ComponentInput): Container {
  return {
    name,
    image: input.settings.images.configDaemon ?? "",
    env: daemonEnv(input),
    ...(hasOwnMetrics(input) && { ports: secureMetrics(input.settings, metricsPort).ports }),
    securityContext: { privileged: true, readOnlyRootFilesystem: true },
    resources: requests("100m", "100Mi"),
    ...probesAt(healthPort, { host: "127.0.0.1" }),
    volumeMounts: [
      { name: "host", mountPath: "/host" },
      { name: "tmp", mountPath: "/tmp" },
    ],
  };
}

/**
 * Used on OpenShift, where the address of the API server's Service may only be reachable after the daemon has
 * configured the node.
 */
const kubeletConfig = "/host/etc/kubernetes/kubeconfig";

/** A user who sets the address decides how metrics are served, and has their own way to find them. */
function hasOwnMetrics({ config, settings }: ComponentInput): boolean {
  return settings.hasSecureMetrics === true && config.spec?.configDaemonEnvVars?.["METRICS_ADDRESS"] === undefined;
}

/** Variables of the user take precedence over those from other settings. */
function daemonEnv(input: ComponentInput): readonly EnvVar[] {
  const { config, settings } = input;
  const isSystemd = isSystemdMode(input);
  const fromSettings = {
    USE_SYSTEMD_SERVICE: isSystemd ? "true" : undefined,
    UNITS_FROM_MACHINE_CONFIG: isSystemd && settings.clusterType === "openshift" ? "true" : undefined,
    USE_EXTERNAL_DRAINER: settings.useExternalDrainer ? "true" : undefined,
    MANAGE_SOFTWARE_BRIDGES: isGateOn("manageSoftwareBridges", config) ? "true" : undefined,
    KUBELET_DIRECTORY: settings.kubeletDirectory,
    OVSDB_SOCKET_PATH: isGateOn("manageSoftwareBridges", config) ? settings.ovsdbSocketPath : undefined,
    MAX_PFS: isGateOn("parallelNicConfig", config) ? undefined : "1",
    ...(hasOwnMetrics(input) && secureMetrics(settings, metricsPort).env),
    API_SERVER_FROM: settings.clusterType === "openshift" ? kubeletConfig : undefined,
  };
  const users = Object.entries(config.spec?.configDaemonEnvVars ?? {}).filter(([name, value]) => {
    return checkDaemonVariable(name, value).use === "passed";
  });
  const others = fromValues({ ...fromSettings, ...Object.fromEntries(users) });
  return [...identity, ...others.toSorted((a, b) => (a.name < b.name ? -1 : 1))];
}

/**
 * fieldsWithoutEffect returns the fields of a SriovOperatorConfig that this release does not implement. They are not
 * passed to any process; each of them results in a warning.
 * Returns the fields that are set and have no effect, with messages.
 */
function fieldsWithoutEffect(spec: SriovOperatorConfigSpec): readonly Pick<ComponentProblem, "field" | "message">[] {
  return fields.filter(({ isSet }) => isSet(spec)).map(({ field, message }) => ({ field, message }));
}

/**
 * The systemd mode (SriovOperatorConfig.spec.configurationMode) as far as the cluster is concerned: whether it is on, and on
 * OpenShift the MachineConfig that installs the units. A change of its text reboots all machines of the pool.
 * Reports whether nodes are configured while they boot. The mode does not work with a hosted control plane of OpenShift.
 */
export function isSystemdMode({ config, settings }: Pick<ComponentInput, "config" | "settings">): boolean {
  const isHosted = settings.clusterType === "openshift" && settings.isControlPlaneExternal === true;
  return config.spec?.configurationMode === "systemd" && !isHosted;
}

export function systemdModeMachineConfig(): Manifest & { readonly spec: object } {
  const units = machineConfigBootUnits.map(({ name, text }) => ({ name, enabled: true, contents: text }));
  return {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineConfig",
    metadata: {
      name: systemdModeConfigName,
      labels: {
        [labels.managedBy]: "switchyard-operator",
        "app.kubernetes.io/component": "systemd-mode",
        [labels.machineConfigRole]: role,
      },
    },
    spec: { config: { ignition: { version: "3.2.0" }, systemd: { units } } },
  };
}
