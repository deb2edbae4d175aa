// SPDX-License-Identifier: Apache-2.0
/**
 * What ovn-offload can and cannot write with its own token, on OpenShift and on other clusters. All other tests of this folder run the
 * service with this token, so they show that its rights are sufficient.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { annotations, labels, taints } from "@switchyard/api";
import { hostPool } from "@switchyard/demo/openshift-objects";
import { connect, isKubeError, type Transport } from "@switchyard/kube";
import {
  defaultOffloadNetwork,
  offloadNetworks,
  ovnOffloadMachineConfig,
  ovnOffloadMark,
  ovnOffloadPolicy,
} from "@switchyard/render";
import { namespace } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { startOffloadCluster, type OffloadCluster } from "./offload-cluster.ts";
import { grantOffloadRights } from "./offload-service.ts";

const configsPath = "/apis/machineconfiguration.openshift.io/v1/machineconfigs";
const policiesPath = `/apis/sriovnetwork.openshift.io/v1/namespaces/${namespace}/sriovnetworknodepolicies`;
const leasesPath = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
const dnsPath = "/apis/operator.openshift.io/v1/dnses/default";
const nodePath = "/api/v1/nodes/worker-0";
const networksPath = "/apis/k8s.cni.cncf.io/v1/namespaces/default/network-attachment-definitions";
const mapsOf = (at: string) => `/api/v1/namespaces/${at}/configmaps`;
const ovnMaps = mapsOf("openshift-ovn-kubernetes");
const operatorMaps = mapsOf("openshift-network-operator");

const own = { ...ovnOffloadMark, [labels.ovnOffloadPool]: hostPool };
const role = "machineconfiguration.openshift.io/role";
const config = ovnOffloadMachineConfig({ name: hostPool, role: hostPool });
const policy = ovnOffloadPolicy({ pool: hostPool, model: "bluefield-2", numVfs: 16, namespace });
const entry = '{"ovnkube-node-mgmt-port":"ovnmgmt0"}';
const line = "OVNKUBE_NODE_MGMT_PORT_NETDEV=ovnmgmt0";
const map = (name: string, data: object, more: object = {}) => {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: own, ...more }, data };
};

const [podNetwork] = offloadNetworks(["openshift.io/bluefield2"], [], defaultOffloadNetwork).networks;
const network = (metadata: object = {}) => ({ ...podNetwork, metadata: { ...podNetwork?.metadata, ...metadata } });

/** A request, and what refuses it: "" if it is allowed. */
type Attempt = readonly [does: string, request: readonly [verb: Verb, path: string, body?: object], refusal: string];
type Verb = keyof typeof verbs;

const verbs = {
  create: { method: "POST", contentType: "application/json" },
  apply: { method: "PATCH", contentType: "application/apply-patch+yaml" },
  merge: { method: "PATCH", contentType: "application/merge-patch+json" },
  delete: { method: "DELETE", contentType: "application/json" },
} as const;

const forbidden = "cannot "; // by RBAC
const limited = "system:serviceaccount:sriov-network-operator:ovn-offload may only ";

function withConfig(changes: object): object {
  return { ...config, spec: { config: { ...config.spec.config, ...changes } } };
}

const root = [{ path: "/etc/cron.d/x", mode: 420, contents: { source: "data:,x" } }];
const dropIn = [
  { name: "kubelet.service", dropins: [{ name: "x.conf", contents: "[Service]\nExecStartPre=/bin/sh" }] },
];
const named = (name: string, more: object = {}) => ({ ...config, metadata: { ...config.metadata, name, ...more } });
const labelled = (changes: object) => ({ ...config, metadata: { ...config.metadata, labels: { ...own, ...changes } } });
const withResource = (value: string) => ({ metadata: { annotations: { [annotations.resourceName]: value } } });
const configPath = `${configsPath}/${config.metadata.name}`;
const policyPath = `${policiesPath}/${policy.metadata.name}`;

/** Metadata that decides who deletes an object and what other programs do with it. */
const hostileMetadata: readonly (readonly [string, object])[] = [
  ["a finalizer", { finalizers: ["evil.example.com/x"] }],
  ["an owner", { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "worker-0", uid: "1" }] }],
  ["an annotation", { annotations: { "evil.example.com/x": "y" } }],
];

const everywhere: readonly Attempt[] = [
  ...hostileMetadata.flatMap(([what, metadata]): readonly Attempt[] => [
    [
      `create its policy with ${what}`,
      ["create", policiesPath, { ...policy, metadata: { ...policy.metadata, ...metadata } }],
      limited,
    ],
  ]),
  ["label a node", ["merge", nodePath, { metadata: { labels: { [labels.ovnOffloadPool]: "x" } } }], ""],
  ["taint a node", ["merge", nodePath, { spec: { taints: [taint("NoSchedule")] } }], ""],
  [
    "set another label",
    ["merge", nodePath, { metadata: { labels: { "node-role.kubernetes.io/master": "" } } }],
    limited,
  ],
  ["remove a label of others", ["merge", nodePath, { metadata: { labels: { mine: null } } }], limited],
  ["change a label of others", ["merge", nodePath, { metadata: { labels: { mine: "y" } } }], limited],
  ["set another taint", ["merge", nodePath, { spec: { taints: [{ key: "x", effect: "NoSchedule" }] } }], limited],
  ["evict pods by its taint", ["merge", nodePath, { spec: { taints: [taint("NoExecute")] } }], limited],
  ["cordon a node", ["merge", nodePath, { spec: { unschedulable: true } }], limited],
  ["annotate a node", ["merge", nodePath, { metadata: { annotations: { x: "y" } } }], limited],
  ["give a node a finalizer", ["merge", nodePath, { metadata: { finalizers: ["a.b/c"] } }], limited],
  ["delete a node", ["delete", nodePath], forbidden],
  [
    "create a node",
    ["apply", "/api/v1/nodes/new", { apiVersion: "v1", kind: "Node", metadata: { name: "new" } }],
    forbidden,
  ],
  ["write the status of a node", ["merge", `${nodePath}/status`, { status: {} }], forbidden],
  ["apply its policy", ["apply", policyPath, policy], ""],
  ["create its policy", ["create", policiesPath, policy], ""],
  [
    "create another policy",
    ["create", policiesPath, { ...policy, metadata: { name: "x", namespace, labels: own } }],
    limited,
  ],
  ["change a user's policy", ["merge", `${policiesPath}/users`, { spec: { numVfs: 2 } }], limited],
  ["take over a user's policy", ["merge", `${policiesPath}/users`, { metadata: { labels: own } }], limited],
  ["delete a user's policy", ["delete", `${policiesPath}/users`], limited],
  ["select all nodes", ["create", policiesPath, withSpec({ nodeSelector: {} })], limited],
  ["select other NICs", ["create", policiesPath, withSpec({ nicSelector: { vendor: "8086" } })], limited],
  [
    "select NICs by name",
    ["create", policiesPath, withSpec({ nicSelector: { ...policy.spec.nicSelector, pfNames: ["eno1"] } })],
    limited,
  ],
  ["create its network for pods", ["create", networksPath, network()], ""],
  ["change its network", ["merge", `${networksPath}/default-own`, withResource("openshift.io/fast")], ""],
  ["delete its network", ["delete", `${networksPath}/default-own`], ""],
  ["create a network with another name", ["create", networksPath, network({ name: "x" })], limited],
  ["create a network without its label", ["create", networksPath, network({ labels: {} })], limited],
  ["create a network with another plugin", ["create", networksPath, { ...network(), spec: { config: "{}" } }], limited],
  ["annotate its network", ["merge", `${networksPath}/default-own`, annotated("x")], limited],
  ["change a network of others", ["merge", `${networksPath}/default-users`, withResource("x/y")], limited],
  ["take over a network of others", ["merge", `${networksPath}/default-users`, { metadata: { labels: own } }], limited],
  ["delete a network of others", ["delete", `${networksPath}/default-users`], limited],
  [
    "create a network elsewhere",
    ["create", networksPath.replace("default", namespace), network({ namespace })],
    forbidden,
  ],
  ["create its Lease", ["create", leasesPath, lease("switchyard-ovn-offload")], ""],
  ["create the operator's Lease", ["create", leasesPath, lease("switchyard-operator")], limited],
  ["create a ConfigMap elsewhere", ["create", mapsOf("default"), map("ovn-management-ports", {})], forbidden],
  ["change the SriovOperatorConfig", ["merge", configOfOperator(), { spec: { disableDrain: true } }], forbidden],
  ["create a Secret", ["create", `/api/v1/namespaces/${namespace}/secrets`, { metadata: { name: "x" } }], forbidden],
  ["create a pod", ["create", `/api/v1/namespaces/${namespace}/pods`, { metadata: { name: "x" } }], forbidden],
  ["create a token", ["create", `/api/v1/namespaces/${namespace}/serviceaccounts/ovn-offload/token`, {}], forbidden],
  [
    "weaken its limits",
    ["delete", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/ovn-offload-nodes"],
    forbidden,
  ],
  [
    "widen its rights",
    ["merge", "/apis/rbac.authorization.k8s.io/v1/clusterroles/ovn-offload", { rules: [] }],
    forbidden,
  ],
];

const onOpenshift: readonly Attempt[] = [
  ["apply its MachineConfig", ["apply", configPath, config], ""],
  ["create its MachineConfig", ["create", configsPath, config], ""],
  [
    "write an empty field",
    ["create", configsPath, { ...config, spec: { ...config.spec, kernelArguments: [], osImageURL: "" } }],
    "",
  ],
  ...hostileMetadata.map(([what, metadata]): Attempt => [
    `create its MachineConfig with ${what}`,
    ["create", configsPath, named(config.metadata.name, metadata)],
    limited,
  ]),
  ["use another name", ["create", configsPath, named("99-x")], limited],
  ["use another pool's name", ["create", configsPath, named("99-other-ovn-hw-offload")], limited],
  [
    "let the API server choose the name",
    ["create", configsPath, { ...named(""), metadata: { generateName: "99-", labels: own } }],
    limited,
  ],
  [
    "write a MachineConfig without its label",
    ["create", configsPath, named(config.metadata.name, { labels: { [role]: hostPool } })],
    limited,
  ],
  ["write a MachineConfig for workers", ["create", configsPath, labelled({ [role]: "worker" })], limited],
  ["write a MachineConfig for masters", ["create", configsPath, labelled({ [role]: "master" })], limited],
  [
    "write a MachineConfig with other labels",
    ["create", configsPath, labelled({ [role]: hostPool, custom: "x" })],
    limited,
  ],
  ["add a file", ["create", configsPath, withConfig({ storage: { files: root } })], limited],
  ["add a unit", ["create", configsPath, withConfig({ systemd: { units: dropIn } })], limited],
  ["add an SSH key", ["create", configsPath, withConfig({ passwd: { users: [{ name: "core" }] } })], limited],
  [
    "add kernel arguments",
    ["create", configsPath, { ...config, spec: { ...config.spec, kernelArguments: ["x"] } }],
    limited,
  ],
  [
    "change the image of the system",
    ["create", configsPath, { ...config, spec: { ...config.spec, osImageURL: "x" } }],
    limited,
  ],
  [
    "change a MachineConfig of others",
    ["merge", `${configsPath}/00-worker`, { spec: { kernelArguments: ["x"] } }],
    limited,
  ],
  [
    "take over a MachineConfig of others",
    ["merge", `${configsPath}/00-worker`, { metadata: { labels: own } }],
    limited,
  ],
  ["delete a MachineConfig of others", ["delete", `${configsPath}/00-worker`], limited],
  ["take over its name", ["merge", `${configsPath}/99-taken-ovn-hw-offload`, { metadata: { labels: own } }], limited],
  [
    "pause a pool",
    ["merge", `/apis/machineconfiguration.openshift.io/v1/machineconfigpools/${hostPool}`, { spec: { paused: true } }],
    forbidden,
  ],
  [
    "place DNS",
    [
      "merge",
      dnsPath,
      {
        ...annotated("switchyard.io/dns-placement-before"),
        spec: { nodePlacement: { nodeSelector: { "switchyard.io/dns-eligible": "" } } },
      },
    ],
    "",
  ],
  [
    "change the tolerations of DNS",
    ["merge", dnsPath, { spec: { nodePlacement: { tolerations: [{ operator: "Exists" }] } } }],
    limited,
  ],
  ["stop the DNS operator", ["merge", dnsPath, { spec: { managementState: "Unmanaged" } }], limited],
  ["annotate DNS", ["merge", dnsPath, annotated("x")], limited],
  ["publish management ports", ["create", ovnMaps, map("ovn-management-ports", { "worker-0": entry })], ""],
  ["publish another port", ["create", ovnMaps, map("ovn-management-ports", { "worker-0": "x" })], limited],
  ["create a ConfigMap of OVN-Kubernetes", ["create", ovnMaps, map("ovnkube-config", {})], limited],
  ["create a ConfigMap in the wrong namespace", ["create", operatorMaps, map("env-overrides", {})], limited],
  [
    "create a ConfigMap without its label",
    ["create", ovnMaps, map("ovn-management-ports", {}, { labels: {} })],
    limited,
  ],
  ["change a ConfigMap of others", ["merge", `${ovnMaps}/ovnkube-script-lib`, { data: { x: "y" } }], forbidden],
  [
    "add its line",
    ["merge", `${ovnMaps}/env-overrides`, { data: { "worker-0": line, _master: `${line}\nOVN_KUBE_LOG_LEVEL=5` } }],
    "",
  ],
  [
    "add another line",
    ["merge", `${ovnMaps}/env-overrides`, { data: { "worker-0": `${line}\nLD_PRELOAD=/x` } }],
    limited,
  ],
  ["change a line of others", ["merge", `${ovnMaps}/env-overrides`, { data: { _master: line } }], limited],
  ["remove a key of others", ["merge", `${ovnMaps}/env-overrides`, { data: { _master: null } }], limited],
  ["delete a ConfigMap of others", ["delete", `${ovnMaps}/env-overrides`], limited],
  ...hostileMetadata.map(([what, metadata]): Attempt => [
    `create a ConfigMap with ${what}`,
    ["create", ovnMaps, map("ovn-management-ports", {}, { labels: own, ...metadata })],
    limited,
  ]),
  [
    "create an immutable ConfigMap",
    ["create", ovnMaps, { ...map("ovn-management-ports", {}), immutable: true }],
    limited,
  ],
  [
    "create a ConfigMap with bytes",
    ["create", ovnMaps, { ...map("ovn-management-ports", {}), binaryData: { evil: "AAAA" } }],
    limited,
  ],
  ["make a ConfigMap immutable", ["merge", `${ovnMaps}/env-overrides`, { immutable: true }], limited],
  ["label a ConfigMap of others", ["merge", `${ovnMaps}/env-overrides`, { metadata: { labels: own } }], limited],
  [
    "name its resource",
    [
      "merge",
      `${operatorMaps}/hardware-offload-config`,
      {
        ...annotated("switchyard.io/ovn-offload-key"),
        data: { "mgmt-port-resource-name": "openshift.io/ovn_mgmt_vf" },
      },
    ],
    "",
  ],
  [
    "name another resource",
    ["merge", `${operatorMaps}/hardware-offload-config`, { data: { "mgmt-port-resource-name": "x/y" } }],
    limited,
  ],
  [
    "rename the label of hosts",
    ["merge", `${operatorMaps}/hardware-offload-config`, { data: { "dpu-host-mode-label": "x=" } }],
    limited,
  ],
];

const elsewhere: readonly Attempt[] = [
  [
    "publish management ports",
    ["create", mapsOf("ovn-kubernetes"), map("ovn-management-ports", { "worker-0": entry })],
    "",
  ],
  [
    "publish another port",
    ["create", mapsOf("ovn-kubernetes"), map("ovn-management-ports", { "worker-0": "x" })],
    limited,
  ],
  ["create another ConfigMap", ["create", mapsOf("ovn-kubernetes"), map("env-overrides", {})], limited],
  ["write to the namespace of OpenShift", ["create", ovnMaps, map("ovn-management-ports", {})], forbidden],
  ["write a MachineConfig", ["create", configsPath, config], forbidden],
  ["change DNS", ["merge", dnsPath, { spec: { nodePlacement: {} } }], forbidden],
];

describe.each([
  { of: "OpenShift", isOpenshift: true, attempts: [...everywhere, ...onOpenshift] },
  { of: "other clusters", isOpenshift: false, attempts: [...everywhere, ...elsewhere] },
])("on $of, the token", ({ isOpenshift, attempts }) => {
  let place: OffloadCluster;
  let service: Transport;

  beforeAll(async () => {
    place = await startOffloadCluster({ isOpenshift });
    const { api, create, testCluster } = place;
    if (!isOpenshift) await create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "ovn-kubernetes" } });
    await api.patch(nodePath, { metadata: { labels: { mine: "x" } } });
    await create({
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovNetworkNodePolicy",
      spec: policy.spec,
      metadata: { name: "users", namespace },
    });
    await create(network({ name: "default-own" }));
    await create(network({ name: "default-users", labels: {} }));
    if (isOpenshift) {
      await create({ ...config, metadata: { name: "99-taken-ovn-hw-offload", labels: { [role]: hostPool } } });
      await create(map("hardware-offload-config", {}, { namespace: "openshift-network-operator", labels: {} }));
    }
    service = testCluster.use(await connect({ kubeconfig: await grantOffloadRights(testCluster) }));
    const isLimited = async () => {
      const outcomes = await Promise.all(attempts.map(([, request]) => attempt(request)));
      return attempts.every(([, , refusal], at) => refusal !== limited || outcomes[at]?.includes("may only ") === true);
    };
    // An API server begins to enforce a policy shortly after it is stored; if one is wrong, a test names it.
    await eventually("all policies are enforced", isLimited, { withinMs: 30_000 }).catch(() => undefined);
  }, 600_000);

  afterAll(async () => {
    await disposeOf(place);
  }, 120_000);

  it.each(attempts.filter(([, , refusal]) => refusal === ""))("can %s", async (_does, request) => {
    expect(await attempt(request)).toBe("done");
  });

  it.each(attempts.filter(([, , refusal]) => refusal !== ""))("cannot %s", async (_does, request, refusal) => {
    expect(await attempt(request)).toContain(`Forbidden`);
    expect(await attempt(request)).toContain(refusal);
  });

  it("does not affect others", async () => {
    const body = { metadata: { labels: { "example.com/other": "x" } }, spec: { unschedulable: true } };
    await place.api.patch(nodePath, body);
    await place.create({ ...policy, metadata: { name: "another", namespace } });
    if (isOpenshift) await place.create({ ...withConfig({ storage: { files: root } }), metadata: { name: "98-mine" } });
  });

  /** Sends the request with dry run. */
  async function attempt([verb, path, body]: Attempt[1]): Promise<string> {
    const how = verbs[verb];
    const query = { dryRun: "All", fieldManager: "switchyard-ovn-offload" };
    try {
      await service.request({ ...how, path, query, ...(body && { body }) });
      return "done";
    } catch (error) {
      if (isKubeError(error)) return `${error.code}: ${error.message}`;
      throw error;
    }
  }
});

function taint(effect: string) {
  return { key: taints.ovnOffload, effect };
}

function withSpec(changes: object) {
  return { ...policy, spec: { ...policy.spec, ...changes } };
}

function lease(name: string) {
  return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name }, spec: {} };
}

function annotated(key: string) {
  return { metadata: { annotations: { [key]: "mgmt-port-resource-name" } } };
}

function configOfOperator(): string {
  return `/apis/sriovnetwork.openshift.io/v1/namespaces/${namespace}/sriovoperatorconfigs/default`;
}
