// SPDX-License-Identifier: Apache-2.0
/**
 * What each token can do, and that it can do nothing else that matters to an attacker: the test asks a real API
 * server and tries it. docs/security.md describes the consequences.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { connect, isKubeError, isKubeObject, type Transport } from "@switchyard/kube";
import { eventually } from "@switchyard/testing";
import { prepareCluster, type DeployedCluster } from "./deployed-cluster.ts";
import { namespace } from "../../src/operator/identity-objects.ts";
import { attempt, isAllowed, readRight, type Right } from "./right.ts";

const coldStartMs = 10 * 60_000;
const testMs = 2 * 60_000;
const states = "sriovnetworknodestates";
const afxdpStates = "afxdpnetworknodestates";
const registration = "sriov-operator-webhook-config";

/** The rights to check: those that at least one component needs, and those that would help an attacker. */
const everything = [
  // Credentials.
  ...["list secrets", "create secrets", "list kube-system:secrets", "get kube-system:secrets/any"],
  ...["get", "update", "delete"].flatMap((verb) => [`${verb} secrets/operator-webhook-cert`, `${verb} secrets/users`]),
  ...["create serviceaccounts/switchyard-operator/token", "create certificatesigningrequests"],
  // Running programs.
  ...["create pods", "delete pods/any", "create pods/any/exec", "create default:pods/any/eviction"],
  ...["create daemonsets", "patch daemonsets/other", "patch kube-system:daemonsets/other", "create deployments"],
  ...["patch daemonsets/sriov-network-config-daemon", "list default:pods", "list kube-system:pods"],
  // Rights.
  ...["patch roles/operator-webhook", "patch roles/other", "create roles", "patch kube-system:roles/other"],
  ...["create rolebindings", "patch rolebindings/other", "patch kube-system:rolebindings/other"],
  ...["patch clusterroles/operator-webhook", "patch clusterroles/cluster-admin", "create clusterroles"],
  ...["create clusterrolebindings", "patch clusterrolebindings/other", "impersonate users/admin"],
  ...["bind clusterroles/cluster-admin", "escalate clusterroles/operator-webhook"],
  // Admission control.
  ...["mutatingwebhookconfigurations", "validatingwebhookconfigurations"].flatMap((kind) => [
    ...[`get ${kind}/${registration}`, `patch ${kind}/${registration}`, `delete ${kind}/${registration}`],
    ...[`list ${kind}`, `create ${kind}`, `patch ${kind}/other`],
  ]),
  ...["validatingadmissionpolicies", "validatingadmissionpolicybindings"].flatMap((kind) => [
    ...[`patch ${kind}/switchyard-own-node`, `delete ${kind}/switchyard-own-node`],
    ...[`patch ${kind}/other`, `create ${kind}`],
  ]),
  `patch customresourcedefinitions/${states}.sriovnetwork.openshift.io`,
  // Nodes and Switchyard's kinds.
  ...["get nodes/worker-1", "list nodes", "patch nodes/worker-1", "update nodes/worker-1", "delete nodes/worker-1"],
  ...["patch nodes/worker-1/status", `get ${states}/worker-1`, `list ${states}`, `patch ${states}/worker-1`],
  ...[`patch ${states}/worker-1/status`, `create ${states}`, `update ${states}/worker-1`, `delete ${states}/worker-1`],
  ...["list sriovnetworknodepolicies", "create sriovnetworknodepolicies", "patch sriovnetworknodepolicies/any"],
  ...["get sriovoperatorconfigs/default", "get sriovoperatorconfigs/other", "patch sriovoperatorconfigs/default"],
  ...["patch sriovoperatorconfigs/default/status", "delete sriovoperatorconfigs/default"],
  ...["list default:sriovnetworks", "create default:sriovnetworks", "patch default:sriovnetworks/any"],
  ...["list default:network-attachment-definitions", "patch default:network-attachment-definitions/any"],
  "get default:network-attachment-definitions/any",
  ...["get default:resourceclaims/any", "list default:resourceclaims", "patch default:resourceclaims/any/status"],
  ...["create default:resourceclaims", "list resourceslices", "create resourceslices", "patch resourceslices/any"],
  ...[`get ${afxdpStates}/worker-1`, `list ${afxdpStates}`, `patch ${afxdpStates}/worker-1`],
  ...[`patch ${afxdpStates}/worker-1/status`, `create ${afxdpStates}`, `delete ${afxdpStates}/worker-1`],
  ...["list afxdpnetworknodepolicies", "patch afxdpnetworknodepolicies/any", "get afxdpoperatorconfigs/default"],
  ...[
    "get afxdpoperatorconfigs/other",
    "patch afxdpoperatorconfigs/default",
    "patch afxdpoperatorconfigs/default/status",
  ],
  ...[`update ${afxdpStates}/worker-1`, "create afxdpnetworknodepolicies", "delete afxdpnetworknodepolicies/any"],
  ...["create afxdpoperatorconfigs", "delete afxdpoperatorconfigs/default", "update afxdpoperatorconfigs/default"],
  ...["list clusterbpfapplications", "create clusterbpfapplications", "patch clusterbpfapplications/any"],
  ...["delete clusterbpfapplications/any", "list clusterbpfapplicationstates", "patch clusterbpfapplicationstates/any"],
  // Other resources.
  ...["get configmaps/supported-nic-ids", "get configmaps/nri-control-switches", "list configmaps"],
  ...["patch configmaps/device-plugin-config", "patch configmaps/other", "list kube-system:configmaps"],
  ...["list namespaces", "delete namespaces/default", "create tokenreviews", "create subjectaccessreviews"],
  ...["create events", "create default:events", "list events", "list default:events"],
  ...["create leases", "update leases/switchyard-operator"],
  ...["update leases/other", "update kube-system:leases/other"],
].map(readRight);

/** The rights of each service account. */
const granted: Readonly<Record<string, readonly string[]>> = {
  "switchyard-operator": [
    ...["create secrets", "get secrets/operator-webhook-cert", "update secrets/operator-webhook-cert"],
    ...["delete secrets/operator-webhook-cert", "create default:pods/any/eviction"],
    ...["patch daemonsets/sriov-network-config-daemon", "list default:pods", "list kube-system:pods"],
    ...["patch roles/operator-webhook", "patch clusterroles/operator-webhook"],
    ...["mutatingwebhookconfigurations", "validatingwebhookconfigurations"].flatMap((kind) => [
      ...[`get ${kind}/${registration}`, `patch ${kind}/${registration}`, `delete ${kind}/${registration}`],
    ]),
    ...["validatingadmissionpolicies", "validatingadmissionpolicybindings"].flatMap((kind) => [
      ...[`patch ${kind}/switchyard-own-node`, `delete ${kind}/switchyard-own-node`],
    ]),
    ...["get nodes/worker-1", "list nodes", "patch nodes/worker-1"],
    ...[`get ${states}/worker-1`, `list ${states}`, `patch ${states}/worker-1`, `patch ${states}/worker-1/status`],
    ...[`create ${states}`, `delete ${states}/worker-1`, "list sriovnetworknodepolicies"],
    ...["get sriovoperatorconfigs/default", "get sriovoperatorconfigs/other", "patch sriovoperatorconfigs/default"],
    ...["patch sriovoperatorconfigs/default/status", "list default:sriovnetworks", "patch default:sriovnetworks/any"],
    ...["list default:network-attachment-definitions", "patch default:network-attachment-definitions/any"],
    ...[`get ${afxdpStates}/worker-1`, `list ${afxdpStates}`, `patch ${afxdpStates}/worker-1`],
    ...[`patch ${afxdpStates}/worker-1/status`, `create ${afxdpStates}`, `delete ${afxdpStates}/worker-1`],
    ...["list afxdpnetworknodepolicies", "get afxdpoperatorconfigs/default", "get afxdpoperatorconfigs/other"],
    "patch afxdpoperatorconfigs/default/status",
    ...["list clusterbpfapplications", "create clusterbpfapplications", "patch clusterbpfapplications/any"],
    ...["delete clusterbpfapplications/any", "list clusterbpfapplicationstates"],
    ...["get configmaps/supported-nic-ids", "get configmaps/nri-control-switches", "list configmaps"],
    ...["patch configmaps/device-plugin-config", "list namespaces"],
    ...["get default:resourceclaims/any", "list resourceslices"],
    "list default:resourceclaims", // not used by the operator, which grants it to the webhook
    // Not used by the operator, which grants them to the driver of ResourceClaims.
    ...["patch default:resourceclaims/any/status", "create resourceslices", "patch resourceslices/any"],
    "get default:network-attachment-definitions/any",
    ...["create tokenreviews", "create subjectaccessreviews"], // not used by the operator, which grants them to the metrics exporter
    ...["create events", "create default:events", "list events"],
    ...["create leases", "update leases/switchyard-operator"],
  ],
  "operator-webhook-sa": [
    ...["list default:pods", "list kube-system:pods", "get nodes/worker-1", "list nodes"],
    ...[`get ${states}/worker-1`, `list ${states}`, "list sriovnetworknodepolicies"],
    ...["get sriovoperatorconfigs/default", "get configmaps/supported-nic-ids"],
    ...["list default:resourceclaims", "list resourceslices", `get ${afxdpStates}/worker-1`, `list ${afxdpStates}`],
    ...["list afxdpnetworknodepolicies", "get afxdpoperatorconfigs/default", "get afxdpoperatorconfigs/other"],
  ],
  "sriov-network-config-daemon": [
    // Admission policies limit these to its own node: see identity.test.ts.
    ...["get nodes/worker-1", "patch nodes/worker-1", `patch ${states}/worker-1`, `patch ${states}/worker-1/status`],
    ...[`get ${states}/worker-1`, `list ${states}`, "get sriovoperatorconfigs/default", "create events"],
    ...[`get ${afxdpStates}/worker-1`, `list ${afxdpStates}`, `patch ${afxdpStates}/worker-1`],
    `patch ${afxdpStates}/worker-1/status`,
    "get afxdpoperatorconfigs/default",
  ],
  "afxdp-device-plugin": [
    `patch ${afxdpStates}/worker-1/status`, // admission policies limit it to its own node
    ...[`get ${afxdpStates}/worker-1`, `list ${afxdpStates}`],
  ],
  "afxdp-plugins": [
    `patch ${afxdpStates}/worker-1/status`, // admission policies limit it to its own node
    ...[`get ${afxdpStates}/worker-1`, `list ${afxdpStates}`],
  ],
  "sriov-device-plugin": [
    `patch ${states}/worker-1/status`, // admission policies limit it to its own node
    ...[`get ${states}/worker-1`, `list ${states}`, "get sriovoperatorconfigs/default", "list resourceslices"],
  ],
  "sriov-dra-driver": [
    // Admission policies limit the writes to its own node: see claims.test.ts.
    ...[`patch ${states}/worker-1/status`, "create resourceslices", "patch resourceslices/any"],
    "patch default:resourceclaims/any/status", // the API server limits it to claims of its node
    ...[`get ${states}/worker-1`, `list ${states}`, "get sriovoperatorconfigs/default", "list resourceslices"],
    ...["get default:resourceclaims/any", "list default:resourceclaims", "get nodes/worker-1", "create events"],
    "get default:network-attachment-definitions/any", // for VFs that are attached without Multus
  ],
  "network-resources-injector-sa": [
    ...["get configmaps/nri-control-switches", "list default:network-attachment-definitions"],
    "get default:network-attachment-definitions/any",
  ],
  "metrics-exporter-sa": ["create tokenreviews", "create subjectaccessreviews"],
};

let deployed: DeployedCluster;

beforeAll(async () => {
  deployed = await prepareCluster();
  for (const manifest of deployed.manifests) await deployed.apply(manifest);
}, coldStartMs);
afterAll(async () => {
  await deployed[Symbol.asyncDispose]();
});

describe.each(Object.entries(granted))("the token of %s", (account, allowed) => {
  let client: Transport;

  beforeAll(async () => {
    client = await deployed.clientOf(account, "worker-1");
  });
  afterAll(async () => {
    await client[Symbol.asyncDispose]();
  });

  it(
    "has these rights and no others",
    async () => {
      const texts = await Promise.all(
        everything.map(async (right) => ((await isAllowed(client, right)) ? [right.text] : [])),
      );
      expect(texts.flat().sort()).toEqual([...allowed].sort());
    },
    testMs,
  );

  it(
    "is refused every other request",
    async () => {
      const others = everything.filter(({ text }) => !allowed.includes(text));
      const outcomes = await Promise.all(others.map((right) => outcomeOf(right)));
      expect(outcomes.filter(({ code }) => code !== "Forbidden")).toEqual([]);
      expect(outcomes.length).toBeGreaterThan(everything.length / 3);
    },
    testMs,
  );

  async function outcomeOf(right: Right): Promise<{ readonly text: string; readonly code: string }> {
    const { text } = right;
    try {
      const answer = attempt(client, right);
      await answer;
      return { text, code: answer === undefined ? "Forbidden" : "done" }; // no request corresponds to this verb
    } catch (error) {
      return { text, code: isKubeError(error) ? error.code : String(error) };
    }
  }
});

describe("the operator", () => {
  const secrets = `/api/v1/namespaces/${namespace}/secrets`;
  const certificate = `${secrets}/operator-webhook-cert`;
  const accountName = "kubernetes.io/service-account.name";
  const post = (secret: object) =>
    deployed.operator.request({ method: "POST", path: secrets, body: { apiVersion: "v1", kind: "Secret", ...secret } });

  /** The limit of Secrets begins shortly after its policy is stored. */
  const isLimited = () =>
    eventually("Secrets are limited", async () => {
      const body = { apiVersion: "v1", kind: "Secret", type: "example.com/probe", metadata: { name: "probe" } };
      const query = { dryRun: "All" };
      return deployed.operator.request({ method: "POST", path: secrets, query, body }).then(
        () => false,
        (error: unknown) => isKubeError(error, "Forbidden"),
      );
    });

  it(
    "cannot get the token of another service account through a Secret with the name of a certificate",
    async () => {
      await isLimited();
      const metadata = { name: "operator-webhook-cert", annotations: { [accountName]: "sriov-network-config-daemon" } };
      const token = post({ metadata, type: "kubernetes.io/service-account-token" });
      await expect(token).rejects.toMatchObject({ code: "Forbidden" });
      await expect(token).rejects.toThrow("may only write Secrets of type kubernetes.io/tls or Opaque");
      await expect(post({ metadata, type: "Opaque" })).rejects.toMatchObject({ code: "Forbidden" });
      for (const type of ["example.com/any", "bootstrap.kubernetes.io/token"])
        await expect(post({ metadata: { name: "other" }, type })).rejects.toMatchObject({ code: "Forbidden" });
    },
    testMs,
  );

  it(
    "writes the Secrets of its certificates, and cannot turn them into a token later",
    async () => {
      const data = { "tls.crt": "", "tls.key": "" };
      await post({ metadata: { name: "operator-webhook-cert" }, type: "kubernetes.io/tls", data });
      const stored = await deployed.operator.request({ method: "GET", path: certificate });
      const update = { method: "PUT", path: certificate } as const;
      const withData = { ...(isKubeObject(stored) && stored), data: { ...data, more: "" } };
      const updated = await deployed.operator.request({ ...update, body: withData });
      const annotated = {
        ...withData,
        metadata: { ...(isKubeObject(updated) && updated.metadata), annotations: { [accountName]: "default" } },
      };
      await expect(deployed.operator.request({ ...update, body: annotated })).rejects.toMatchObject({
        code: "Forbidden",
      });
      await deployed.operator.request({ method: "DELETE", path: certificate });
      await post({ metadata: { name: "operator-webhook-cert" }, data });
    },
    testMs,
  );

  it(
    "cannot change or delete the policy that limits its Secrets",
    async () => {
      for (const plural of ["validatingadmissionpolicies", "validatingadmissionpolicybindings"]) {
        const path = `/apis/admissionregistration.k8s.io/v1/${plural}/switchyard-operator-secrets`;
        const contentType = "application/merge-patch+json";
        const changed = deployed.operator.request({ method: "PATCH", path, contentType, body: { spec: {} } });
        await expect(changed).rejects.toMatchObject({ code: "Forbidden" });
        const deleted = deployed.operator.request({ method: "DELETE", path });
        await expect(deleted).rejects.toMatchObject({ code: "Forbidden" });
      }
    },
    testMs,
  );

  it(
    "cannot grant a right that it does not have, even in a role that it may write",
    async () => {
      const rbac = "rbac.authorization.k8s.io";
      const all = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
      const secrets = [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }];
      for (const rules of [all, secrets]) {
        const role = {
          apiVersion: `${rbac}/v1`,
          kind: "Role",
          metadata: { name: "operator-webhook", namespace },
          rules,
        };
        await expect(deployed.apply(role)).rejects.toMatchObject({ code: "Forbidden" });
      }
      await using admin = await connect({ kubeconfig: deployed.cluster.kubeconfig });
      const name = "operator-webhook-role-binding";
      await admin.request({ method: "DELETE", path: `/apis/${rbac}/v1/clusterrolebindings/${name}` });
      const binding = {
        apiVersion: `${rbac}/v1`,
        kind: "ClusterRoleBinding",
        metadata: { name },
        roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "cluster-admin" },
        subjects: [{ kind: "ServiceAccount", name: "operator-webhook-sa", namespace }],
      };
      await expect(deployed.apply(binding)).rejects.toMatchObject({ code: "Forbidden" });
    },
    testMs,
  );
});
