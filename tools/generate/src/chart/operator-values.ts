// SPDX-License-Identifier: Apache-2.0
/** The chart's values `operator`. Those that upstream's chart has keep their names and meaning. */
import {
  digits,
  group,
  integer,
  kubeList,
  kubeObject,
  oneOf,
  port,
  text,
  texts,
  value,
  yesNo,
  type Schema,
} from "./value-tree.ts";

const controlPlane = "node-role.kubernetes.io/control-plane";

const controlPlaneAffinity = {
  nodeAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 1, preference: { matchExpressions: [{ key: controlPlane, operator: "Exists" }] } },
    ],
  },
};

export const tolerationFields = ["key", "operator", "value", "effect", "tolerationSeconds"];
export const resourceFields = ["limits", "requests", "claims"];
const affinityFields = ["nodeAffinity", "podAffinity", "podAntiAffinity"];
const spreadFields = [
  ...["maxSkew", "topologyKey", "whenUnsatisfiable", "labelSelector", "minDomains", "matchLabelKeys"],
  ...["nodeAffinityPolicy", "nodeTaintsPolicy"],
];

const environment: Schema = {
  type: "object",
  patternProperties: {
    "^[-._a-zA-Z][-._a-zA-Z0-9]*$": {
      anyOf: [
        { type: ["string", "number", "boolean"] },
        {
          type: "object",
          properties: { valueFrom: { type: "object" } },
          required: ["valueFrom"],
          additionalProperties: false,
        },
      ],
    },
  },
  additionalProperties: false,
};

const percentOrCount = { type: ["integer", "string"], pattern: "^([0-9]+%?)?$", minimum: 0 };

function ownCertificate(server: string) {
  return group(`Certificate of the ${server}, as PEM.`, {
    caCrt: text("", "CA certificate."),
    tlsCrt: text("", "Certificate, with intermediate certificates."),
    tlsKey: text("", "Private key of the certificate."),
  });
}

const admissionControllers = group("The admission webhook and the network resources injector.", {
  enabled: yesNo(
    false,
    "Deploys the webhook and the injector (enableOperatorWebhook, enableInjector). Without them, the certificates and ports below have no effect.",
  ),
  nodeSelector: texts("Labels of nodes for both servers, which then need no control plane node."),
  tolerations: kubeList(tolerationFields, "Further tolerations of both servers, beside those of control plane nodes."),
  affinity: kubeObject(affinityFields, "Affinity of both servers, instead of that for control plane nodes."),
  networkPolicy: group("The NetworkPolicies of webhook and injector allow egress to one port of the API server.", {
    operator: group("The webhook.", { port: port("6443", "Port of the API server.") }),
    injector: group("The injector.", { port: port("6443", "Port of the API server.") }),
  }),
  certificates: group(
    "Certificates of the webhook and the injector. By default the operator creates and renews them, or uses the Secrets below if you create them first. On OpenShift the service CA creates them.",
    {
      secretNames: group("Names of the Secrets, and of the Certificates of cert-manager.", {
        operator: text("operator-webhook-cert", "Secret of the webhook."),
        injector: text("network-resources-injector-cert", "Secret of the injector."),
      }),
      certManager: group("Certificates from cert-manager, which must be installed.", {
        enabled: yesNo(false, "Uses the Certificates with the names above."),
        generateSelfSigned: yesNo(false, "Also creates these Certificates, and Issuers that sign them."),
      }),
      custom: group(
        "Certificates that you pass as values. The Secrets are created from them. Not together with certManager.",
        {
          enabled: yesNo(false, "Uses the certificates below."),
          operator: ownCertificate("webhook"),
          injector: ownCertificate("injector"),
        },
      ),
    },
  ),
  labelSelector: text("", "No effect. Accepted because older values files have it."),
});

export const operatorValues = {
  replicas: integer(1, "Number of replicas. Only the leader writes; the others take over when it ends.", {
    minimum: 0,
  }),
  leaderElect: yesNo(true, "Elects a leader. Must be true with more than one replica."),
  logLevel: oneOf(
    ["info", "trace", "debug", "warn", "error", "fatal"],
    "Minimum severity of log lines until the SriovOperatorConfig sets one.",
  ),
  clusterType: oneOf(["kubernetes", "openshift"], "Type of the cluster."),
  resourcePrefix: text(
    "openshift.io",
    "Prefix of resource names, the part before the slash. Running pods request resources by it.",
    {
      minLength: 1,
    },
  ),
  cniBinPath: text("/opt/cni/bin", "Directory of the CNI plugins on the nodes.", { pattern: "^/" }),
  kubeletDirectory: text(
    "",
    "Directory of the kubelet on the nodes, if it is not /var/lib/kubelet: the kubelet's --root-dir.",
    { pattern: "^(/.+)?$" },
  ),
  attachNetworks: yesNo(
    true,
    "Lets the driver of ResourceClaims attach VFs to pods without Multus, if their claim names a network. Needs a runtime with NRI.",
  ),
  staleNodeStateCleanupDelayMinutes: digits(
    "30",
    "Minutes for which the SriovNetworkNodeState of a removed node is kept. 0 deletes it at once.",
  ),
  devMode: yesNo(false, "Accepts policies for NICs that are not in the list of supported NICs."),
  writeConfigMap: yesNo(
    false,
    "Also writes upstream's ConfigMap device-plugin-config, for tools that read it. Limited to 1 MiB, about 1,000 nodes.",
  ),
  ovsdbSocketPath: text("", "Socket of ovsdb-server on the nodes. If empty, /var/run/openvswitch/db.sock."),
  maxCacheAge: text(
    "",
    'Age at which a cache counts as stale, such as "5m", at least "90s". If empty, the operator\'s default.',
  ),
  externalDrainer: group("Drains by another program.", {
    enabled: yesNo(false, "Leaves draining of nodes to an external drainer."),
  }),
  tls: group("TLS settings of the deployed servers. On OpenShift the TLS profile of the cluster takes precedence.", {
    minVersion: oneOf(["", "VersionTLS12", "VersionTLS13"], "Minimum version."),
    cipherSuites: text("", "Comma-separated cipher suites, by IANA or OpenSSL name."),
    curvePreferences: text("", "Comma-separated key exchange curves, in order of preference."),
  }),
  metricsExporter: group("The metrics exporter of the VFs, which the feature gate metricsExporter enables.", {
    port: port("9110", "Port on each node."),
    certificates: group("Certificate of the proxy in front of the exporter.", {
      secretName: text(
        "metrics-exporter-cert",
        "Secret with tls.crt and tls.key. The exporter's pods wait until it exists.",
      ),
    }),
    prometheusOperator: group("Objects for the Prometheus operator.", {
      enabled: yesNo(false, "Deploys a ServiceMonitor for the exporter."),
      serviceAccount: text("prometheus-k8s", "ServiceAccount of Prometheus, which may read the metrics."),
      namespace: text("monitoring", "Namespace of Prometheus."),
      deployRules: yesNo(false, "Deploys recording rules that join VF counters with pods."),
    }),
  }),
  admissionControllers,
  extraEnv: value(
    "object",
    {},
    "Environment variables of the operator, as name: value or name: {valueFrom: ...}. They replace the variables of the chart with the same name.",
    environment,
  ),
  metricsBindAddress: text(
    "",
    'Address of the operator\'s metrics, such as ":8080". "0" disables them. If empty, the value metrics decides.',
    {
      pattern: "^(|0|.*:[0-9]{1,5})$",
    },
  ),
  healthPort: integer(8081, "Port of /healthz and /readyz.", { minimum: 1, maximum: 65535 }),
  resources: kubeObject(resourceFields, "Resources of the operator's container.", {
    requests: { cpu: "50m", memory: "128Mi" },
  }),
  priorityClassName: text("system-node-critical", "PriorityClass of the operator's pods and the Jobs."),
  strategy: value(
    "object",
    { type: "Recreate" },
    "Strategy of the Deployment. With Recreate no two versions of the operator run at the same time.",
    {
      type: "object",
      properties: { type: { enum: ["Recreate", "RollingUpdate"] }, rollingUpdate: { type: "object" } },
      additionalProperties: false,
    },
  ),
  podDisruptionBudget: group(
    "PodDisruptionBudgets of the operator and of ovn-offload. Only useful with more than one replica.",
    {
      enabled: yesNo(false, "Creates them."),
      minAvailable: value(
        "integer or string",
        "",
        "Minimum of available pods, as number or percentage.",
        percentOrCount,
      ),
      maxUnavailable: value(
        "integer or string",
        1,
        "Maximum of unavailable pods. No effect if minAvailable is set.",
        percentOrCount,
      ),
    },
  ),
  nodeSelector: texts("Labels of nodes for the operator's pods and the Jobs."),
  tolerations: kubeList(
    tolerationFields,
    "Tolerations of the operator's pods.",
    ["node-role.kubernetes.io/master", controlPlane].map((key) => ({ key, operator: "Exists", effect: "NoSchedule" })),
  ),
  affinity: kubeObject(
    affinityFields,
    "Affinity of the operator's pods. null removes the default.",
    controlPlaneAffinity,
    { isNullable: true },
  ),
  topologySpreadConstraints: kubeList(spreadFields, "Topology spread constraints of the operator's pods."),
  podSecurityContext: value(
    "object",
    { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    "Security context of the operator's pods and the Jobs. Without runAsUser the image's user 65532 is used; OpenShift selects one.",
    { type: "object" },
  ),
  securityContext: value(
    "object",
    { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
    "Security context of the containers of the operator and the Jobs.",
    { type: "object" },
  ),
  annotations: texts("Annotations of the Deployment."),
  podAnnotations: texts("Annotations of the operator's pods."),
  podLabels: texts("Labels of the operator's pods."),
  terminationGracePeriodSeconds: integer(
    30,
    "Time in which the operator must end before it is killed. It needs at most 10 s.",
    { minimum: 0 },
  ),
  nameOverride: text("", "No effect. Use nameOverride at the top level."),
  fullnameOverride: text("", "No effect. Use fullnameOverride at the top level."),
};
