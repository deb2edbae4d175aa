// SPDX-License-Identifier: Apache-2.0
/**
 * The values of the chart. `npm run generate` writes charts/switchyard/values.yaml, its schema and its table from them.
 */
import { defaultHostLabel, defaultOffloadNetwork } from "@switchyard/render";
import { images } from "./images.ts";
import { operatorValues, resourceFields, tolerationFields } from "./operator-values.ts";
import { group, integer, kubeList, kubeObject, list, oneOf, text, texts, value, yesNo } from "./value-tree.ts";

const pullSecret = {
  anyOf: [
    { type: "string", minLength: 1 },
    {
      type: "object",
      properties: { name: { type: "string", minLength: 1 } },
      required: ["name"],
      additionalProperties: false,
    },
  ],
};

const monitorValues = {
  interval: text("", 'Time between scrapes, such as "30s". If empty, the default of Prometheus.'),
  scrapeTimeout: text("", "Time limit of a scrape."),
  labels: texts("Labels that your Prometheus selects by."),
};

export const chartValues = group("", {
  global: group(
    "Values that parent charts share with all their charts.",
    {
      imageRegistry: text(
        "",
        "Registry in place of the registries of all default images and of images that are objects without a registry.",
      ),
      imagePullSecrets: list("Image pull secrets, in addition to imagePullSecrets.", pullSecret),
    },
    { isOpen: true },
  ),
  nameOverride: text("", "Replaces the chart's name in the names of objects."),
  fullnameOverride: text("", "Replaces the whole name of the Deployment and of other objects of the chart."),
  commonLabels: texts("Labels of all objects of the chart."),
  commonAnnotations: texts("Annotations of all objects of the chart."),
  imagePullSecrets: list("Image pull secrets of all pods, as names or as {name: NAME}.", pullSecret),
  images: group(
    'Images, as a reference such as "registry.example.com/switchyard-operator:1.0.0", or as an object with the keys registry, repository, tag and digest, of which missing ones are taken from the default. Switchyard\'s own images have the version of the chart as default tag.',
    images,
  ),
  allowUpstreamImageNames: yesNo(
    false,
    "Accepts images of operator, config daemon and webhook whose names are those of the Go operator. Only for mirrors that renamed Switchyard's images.",
  ),
  operator: group("The operator.", operatorValues),
  serviceAccount: group("ServiceAccount of the operator. Its ClusterRole has the same name.", {
    create: yesNo(true, "Creates the ServiceAccount."),
    name: text("", "Name. If empty, the name of the Deployment."),
    annotations: texts("Annotations of the ServiceAccount."),
  }),
  rbac: group("Roles of the operator and of the Jobs.", {
    create: yesNo(
      true,
      "Creates roles and role bindings. If false, an administrator must create them with the same names first.",
    ),
  }),
  sriovOperatorConfig: group(
    "The SriovOperatorConfig. Without it, no component is deployed and no node is configured.",
    {
      deploy: yesNo(
        false,
        "Creates the SriovOperatorConfig from the values below. It stays if the value becomes false later.",
      ),
      configDaemonNodeSelector: texts(
        "Labels of the nodes that are configured. If empty, Linux nodes with the label node-role.kubernetes.io/worker.",
      ),
      logLevel: value("integer or string", 2, "Log verbosity of the operator and the config daemons, 0 to 2.", {
        type: ["integer", "string"],
        pattern: "^[0-2]$",
        minimum: 0,
        maximum: 2,
      }),
      disableDrain: value("boolean or string", false, "Configures nodes without draining them first.", {
        enum: [true, false, "true", "false"],
      }),
      configurationMode: oneOf(
        ["daemon", "systemd"],
        "How nodes are configured: by the running config daemon, or by systemd units during boot.",
      ),
      featureGates: value("object", {}, "Feature gates, as name: true or name: false.", {
        type: "object",
        additionalProperties: { type: "boolean" },
      }),
      disablePlugins: list("Vendor-specific parts of the config daemon to disable: mellanox.", { enum: ["mellanox"] }),
      configDaemonEnvVars: value(
        "object",
        {},
        "Environment variables of the config daemon. See the description of the field for those that are allowed.",
        { type: "object", additionalProperties: { type: ["string", "number", "boolean"] } },
      ),
      useCDI: value(
        "boolean or null",
        null,
        "Passes devices to pods through the Container Device Interface (CDI). If not set, the field is not set.",
        {
          type: ["boolean", "null"],
        },
      ),
      supportedNics: value(
        "string",
        "",
        'How policies for unknown NICs are treated: "warn" or "strict". If empty, the field is not set.',
        {
          enum: ["", "warn", "strict"],
        },
      ),
    },
  ),
  afxdpOperatorConfig: group(
    "The AfxdpOperatorConfig. Without it, no AF_XDP device is configured or offered to pods. If there is no SriovOperatorConfig, only what AF_XDP needs is deployed: the config daemon and the AF_XDP device plugin.",
    {
      deploy: yesNo(
        false,
        "Creates the AfxdpOperatorConfig from the values below. It stays if the value becomes false later.",
      ),
      configDaemonNodeSelector: texts(
        "Labels of the nodes that have AF_XDP devices. If empty, Linux nodes with the label node-role.kubernetes.io/worker.",
      ),
      provider: oneOf(
        ["switchyard", "upstream"],
        "Who provides the device plugin and the CNI plugin. upstream is afxdp-plugins-for-kubernetes, and needs images.afxdpPlugins.",
      ),
      loader: oneOf(
        ["builtin", "bpfman"],
        "Who loads the XDP programs: the device plugin (builtin), or bpfman, which must be installed in the cluster.",
      ),
      logLevel: integer(
        1,
        "Log verbosity of the device plugin and, without a SriovOperatorConfig, of the config daemons, 0 to 2.",
        { minimum: 0, maximum: 2 },
      ),
      disableDrain: yesNo(false, "Configures AF_XDP devices without draining the nodes first."),
    },
  ),
  supportedExtraNICs: list(
    'NICs in addition to the built-in list, as \'MyNIC: "8086 1521 1520"\' or {MyNIC: "8086 1521 1520"}: name, and the PCI IDs of vendor, PF and VF.',
    { anyOf: [{ type: "string" }, { type: "object", additionalProperties: { type: "string" } }] },
  ),
  crds: group(
    "CustomResourceDefinitions. Helm itself installs those in crds/ once and never upgrades or deletes them.",
    {
      enabled: yesNo(true, "Runs a Job before each installation and upgrade that applies this release's CRDs."),
      keep: yesNo(
        true,
        "Keeps the CRDs when the chart is uninstalled. If false, a Job deletes them afterwards, with all policies, networks and other objects of their kinds.",
      ),
      networkAttachmentDefinition: yesNo(
        true,
        "Creates the CRD of NetworkAttachmentDefinitions if it does not exist. Multus owns it, if it is installed.",
      ),
    },
  ),
  hooks: group("Jobs that Helm runs before installation, upgrade and uninstallation.", {
    enabled: yesNo(
      true,
      "Runs the Jobs. Without them, apply the CRDs before each upgrade and delete the SriovOperatorConfig before you uninstall.",
    ),
    activeDeadlineSeconds: integer(240, "Time limit of a Job, including the time until its pod is scheduled.", {
      minimum: 30,
    }),
    uninstallTimeoutSeconds: integer(
      120,
      "Time for which the Job waits for the components to be deleted before it fails.",
      { minimum: 1 },
    ),
    giveHostsBack: group("Whether the uninstallation resets the hosts that Switchyard has configured.", {
      enabled: yesNo(
        false,
        "Then runs config-daemon cleanup on each node with a node state: pods lose their VFs without a drain. Set it before helm uninstall.",
      ),
      keepVfs: yesNo(false, "Leaves VFs, MTUs and drivers as they are, and removes everything else."),
      timeoutSeconds: integer(
        600,
        "Time for all hosts. It is added to the time limit of the Job. Hosts that are not given back after it are named in the Job's log, and the uninstallation fails.",
        { minimum: 1, maximum: 3600 },
      ),
    }),
    tolerations: kubeList(
      tolerationFields,
      "Tolerations of the Jobs: by default all taints, so that none blocks uninstallation. They prefer control plane nodes.",
      [{ operator: "Exists" }],
    ),
    resources: kubeObject(resourceFields, "Resources of the Jobs.", { requests: { cpu: "10m", memory: "64Mi" } }),
  }),
  metrics: group("Metrics of the operator, of ovn-offload, and of what the operator deploys.", {
    enabled: yesNo(true, "Serves metrics at /metrics."),
    port: integer(8080, "Port.", { minimum: 1, maximum: 65535 }),
    secure: yesNo(
      true,
      "Serves metrics over TLS, to tokens that may get the non-resource URL /metrics. Without it, pods on nodes serve none.",
    ),
    service: group("Service in front of the metrics.", {
      enabled: yesNo(true, "Creates the Service."),
      annotations: texts("Annotations of the Service."),
    }),
    serviceMonitor: group("ServiceMonitor for the Prometheus operator.", {
      enabled: yesNo(false, "Creates the ServiceMonitor."),
      ...monitorValues,
    }),
    podMonitor: group("PodMonitor for the Prometheus operator. Not together with serviceMonitor.", {
      enabled: yesNo(false, "Creates the PodMonitor."),
      ...monitorValues,
    }),
    alerts: group("PrometheusRule with the alerts in alerts/.", {
      enabled: yesNo(false, "Creates the PrometheusRule."),
      labels: texts("Labels that your Prometheus selects by."),
    }),
    dashboard: group("ConfigMap with the Grafana dashboard in dashboards/.", {
      enabled: yesNo(false, "Creates the ConfigMap."),
      labels: texts("Labels that your Grafana selects by.", { grafana_dashboard: "1" }),
      annotations: texts("Annotations, such as the folder of the dashboard."),
    }),
  }),
  networkPolicy: group("NetworkPolicies of the chart's pods. The operator creates those of webhook and injector.", {
    enabled: yesNo(true, "Allows only probes and metrics as ingress, and only DNS and the API server as egress."),
    apiServerPorts: list(
      "Ports of the API server, as Service and as endpoint. Helm adds those that it finds in the cluster.",
      { type: "integer", minimum: 1, maximum: 65535 },
      [443, 6443],
    ),
  }),
  tests: group("Pod that helm test runs.", {
    enabled: yesNo(true, "Includes the test: a replica leads, and the SriovOperatorConfig is Ready."),
  }),
  ovnOffload: group(
    "The service that runs OVN on SmartNICs (SriovOperatorConfig.spec.ovnHardwareOffload). It has the security settings, placement, log level and ports of the operator.",
    {
      enabled: yesNo(false, "Creates the Deployment and its rights."),
      replicas: integer(1, "Number of replicas. One writes, the others take over if it fails.", { minimum: 0 }),
      ovnNamespace: text(
        "ovn-kubernetes",
        "Namespace of OVN-Kubernetes, which must exist. Not used on OpenShift, where it is openshift-ovn-kubernetes.",
        { pattern: "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$" },
      ),
      network: group("NetworkAttachmentDefinition by which pods get a VF of the SmartNIC as their default interface.", {
        namespace: text(defaultOffloadNetwork.namespace, "Namespace, which must exist.", {
          pattern: "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
        }),
        name: text(
          defaultOffloadNetwork.name,
          "Name. If the SmartNICs have several resources, those of the others have this name, a hyphen and the resource.",
          { pattern: "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$" },
        ),
      }),
      hostLabel: text(
        defaultHostLabel,
        "Key of the label that dpu-host-mode-label in the ConfigMap hardware-offload-config names, on OpenShift. The service may set no other label of this kind.",
        { pattern: "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$", maxLength: 317 },
      ),
      resources: kubeObject(resourceFields, "Resources of the container.", {
        requests: { cpu: "10m", memory: "96Mi" },
      }),
    },
  ),
  eveBridge: group("DaemonSet that installs eve-bridge, the CNI plugin for nodes with EVE.", {
    enabled: yesNo(false, "Creates the DaemonSet."),
    directories: list("Directories of CNI plugins on the nodes.", { type: "string", pattern: "^/" }, [
      "/opt/cni/bin",
      "/var/lib/cni/bin",
    ]),
    nodeSelector: texts("Labels of the nodes."),
    tolerations: kubeList(tolerationFields, "Tolerations of the pods.", [{ operator: "Exists" }]),
    resources: kubeObject(resourceFields, "Resources of the containers.", { requests: { cpu: "1m", memory: "16Mi" } }),
  }),
  extraDeploy: list("Further objects, as maps or texts. They are templates.", { type: ["string", "object"] }),
});
