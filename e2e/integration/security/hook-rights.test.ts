// SPDX-License-Identifier: Apache-2.0
/**
 * The account of the chart's hook that annotates the objects of upstream's chart: on a real API server with a real token it can set
 * this annotation and nothing else. The objects come from the chart, rendered by Helm.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sriovOperatorConfigs, type ResourceType } from "@switchyard/api";
import { apiVersionOf, connect, isKubeError, objectPath, type Transport } from "@switchyard/kube";
import { componentKinds } from "@switchyard/render";
import { eventually, startControlPlane, type ControlPlane } from "@switchyard/testing";
import { crdFolder } from "../../src/crds/crd-objects.ts";
import { startOperatorCommand } from "../../src/operator/operator-command.ts";
import { fieldAt } from "../../src/api/plain-api.ts";
import { chartTemplates, idOf, namespace, type ChartObject } from "../chart/template-chart.ts";

const startMs = 10 * 60_000;
const testMs = 2 * 60_000;
const release = "sw"; // of chartTemplates
const account = "sw-sriov-network-operator-pre-upgrade-adopt";
const daemon = "sriov-network-config-daemon";
const { ServiceAccount, ClusterRole, ClusterRoleBinding, Role, RoleBinding } = componentKinds;

let stack: AsyncDisposableStack;
let cluster: ControlPlane;
let objects: readonly ChartObject[];
let kubeconfig: string;
let hook: Transport;

const everything = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
/** A right with which the account could take over nodes, had it only RBAC's limits. */
const rules = [{ apiGroups: [""], resources: ["pods", "nodes"], verbs: ["get", "create", "patch"] }];
const subjects = [{ kind: "ServiceAccount", name: daemon, namespace }];
const roleRef = (kind: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name: daemon });

/** The objects of upstream's chart, with the content that must not change. */
const kept: readonly { readonly type: ResourceType; readonly name: string; readonly content: object }[] = [
  { type: ServiceAccount, name: daemon, content: {} },
  { type: ClusterRole, name: daemon, content: { rules } },
  { type: ClusterRoleBinding, name: daemon, content: { roleRef: roleRef("ClusterRole"), subjects } },
  { type: Role, name: daemon, content: { rules } },
  { type: RoleBinding, name: daemon, content: { roleRef: roleRef("Role"), subjects } },
  { type: sriovOperatorConfigs, name: "default", content: { spec: { logLevel: 2 } } },
];

const placeOf = (type: ResourceType, name: string) => ({ name, ...(type.namespaced && { namespace }) });

async function create(items: readonly object[]): Promise<void> {
  await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify({ apiVersion: "v1", kind: "List", items }) });
}

/** Patches one of these objects with the token of the hook, with dry run. */
function patch(type: ResourceType, name: string, body: object): Promise<unknown> {
  const path = objectPath(type, placeOf(type, name));
  const contentType = "application/merge-patch+json";
  return hook.request({ method: "PATCH", path, query: { dryRun: "All" }, contentType, body });
}

const annotate = (annotations: object) => ({ metadata: { annotations } });

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  using chart = await chartTemplates();
  objects = await chart.objects();
  cluster = stack.use(await startControlPlane());
  await cluster.applyCrds(crdFolder);
  await create([
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    { apiVersion: "v1", kind: "Node", metadata: { name: "worker-1" } },
  ]);
  const annotations = { "meta.helm.sh/release-name": release, "meta.helm.sh/release-namespace": namespace };
  await create(
    kept.map(({ type, name, content }) => {
      const metadata = { ...placeOf(type, name), annotations, labels: { "app.kubernetes.io/managed-by": "Helm" } };
      return { apiVersion: apiVersionOf(type), kind: type.kind, metadata, ...content };
    }),
  );
  const own = objects.filter((object) => idOf(object).includes(account) && object["kind"] !== "Job");
  await create(own);
  const token = await cluster.kubectl(["create", "token", account, "-n", namespace]);
  kubeconfig = await cluster.clientFor({ token: token.trim() });
  hook = stack.use(await connect({ kubeconfig }));
  await eventually("the policy is enforced", () =>
    patch(ServiceAccount, daemon, { metadata: { labels: { a: "b" } } }).then(
      () => false,
      (error: unknown) => isKubeError(error, "Forbidden"),
    ),
  );
}, startMs);
afterAll(() => stack.disposeAsync(), testMs);

const words = "may only set the annotation helm.sh/resource-policy to keep";

describe("the token of the hook that annotates objects of upstream's chart", () => {
  it("belongs to an account without escalate and bind", () => {
    const roles = objects.filter((object) => ["Role", "ClusterRole"].includes(String(object["kind"])));
    const dangerous = roles.filter((role) => /"(?:escalate|bind|impersonate|\*)"/.test(JSON.stringify(role["rules"])));
    expect([roles.length > 5, dangerous.map(idOf)]).toEqual([true, []]);
  });

  it.each([
    { what: "more rights of the ClusterRole", type: ClusterRole, body: { rules: everything } },
    { what: "fewer rights of the ClusterRole", type: ClusterRole, body: { rules: [] } },
    { what: "more rights of the Role", type: Role, body: { rules: everything } },
    {
      what: "itself as subject of the ClusterRoleBinding",
      type: ClusterRoleBinding,
      body: { subjects: [...subjects, { kind: "ServiceAccount", name: account, namespace }] },
    },
    {
      what: "another subject of the RoleBinding",
      type: RoleBinding,
      body: { subjects: [{ kind: "Group", name: "system:authenticated", apiGroup: "rbac.authorization.k8s.io" }] },
    },
    { what: "pull secrets of the account", type: ServiceAccount, body: { imagePullSecrets: [{ name: "x" }] } },
    { what: "the spec of the config", type: sriovOperatorConfigs, body: { spec: { logLevel: 0 } } },
    { what: "a new field of the config's spec", type: sriovOperatorConfigs, body: { spec: { disableDrain: true } } },
    { what: "a label", type: ClusterRole, body: { metadata: { labels: { a: "b" } } } },
    { what: "the removal of a label", type: Role, body: { metadata: { labels: null } } },
    { what: "another annotation", type: ServiceAccount, body: annotate({ a: "b" }) },
    { what: "the owner", type: ClusterRole, body: annotate({ "meta.helm.sh/release-name": "x" }) },
    { what: "the removal of the owner", type: Role, body: annotate({ "meta.helm.sh/release-name": null }) },
    { what: "another policy", type: Role, body: annotate({ "helm.sh/resource-policy": "delete" }) },
    { what: "a finalizer", type: ClusterRole, body: { metadata: { finalizers: ["example.com/x"] } } },
  ])(
    "is refused $what ($type.kind)",
    async ({ type, body }) => {
      const name = type.kind === sriovOperatorConfigs.kind ? "default" : daemon;
      await expect(patch(type, name, body)).rejects.toMatchObject({ code: "Forbidden" });
    },
    testMs,
  );

  it(
    "is refused writes that the role allows to which it is bound",
    async () => {
      const query = { dryRun: "All" };
      const body = { metadata: { name: "root" }, spec: { containers: [{ name: "c", image: "i" }] } };
      const pods = `/api/v1/namespaces/${namespace}/pods`;
      const pod = hook.request({ method: "POST", path: pods, query, body });
      await expect(pod).rejects.toThrow(words);
      const node = { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false };
      await expect(patch(node, "worker-1", { metadata: { labels: { a: "b" } } })).rejects.toThrow(words);
    },
    testMs,
  );

  it(
    "is refused more rights by RBAC as well, without the policy",
    async () => {
      const binding = ["validatingadmissionpolicybinding", account, "-o", "json"];
      const stored = await cluster.kubectl(["get", ...binding]);
      await cluster.kubectl(["delete", ...binding.slice(0, 2)]);
      await eventually("the policy is not enforced", () =>
        patch(ServiceAccount, daemon, { metadata: { labels: { a: "b" } } }).then(
          () => true,
          () => false,
        ),
      );
      for (const type of [ClusterRole, Role]) {
        const attempt = patch(type, daemon, { rules: everything });
        await expect(attempt).rejects.toThrow("attempting to grant RBAC permissions not currently held");
      }
      const spec = fieldAt(JSON.parse(stored), "spec");
      await create([
        {
          apiVersion: "admissionregistration.k8s.io/v1",
          kind: "ValidatingAdmissionPolicyBinding",
          metadata: { name: account },
          spec,
        },
      ]);
      await eventually("the policy is enforced again", () =>
        patch(ServiceAccount, daemon, { metadata: { labels: { a: "b" } } }).then(
          () => false,
          () => true,
        ),
      );
    },
    testMs,
  );

  it(
    "annotates all objects by `operator adopt`, and their content stays the same",
    async () => {
      const args = ["adopt", "--release", release, "--kubeconfig", kubeconfig, "--namespace", namespace];
      const end = await startOperatorCommand(args).ended;
      expect(end).toMatchObject({ code: 0, errors: "" });
      await using admin = await connect({ kubeconfig: cluster.kubeconfig });
      for (const { type, name, content } of kept) {
        const object = await admin.request({ method: "GET", path: objectPath(type, placeOf(type, name)) });
        expect(object).toMatchObject(content);
        expect(fieldAt(object, "metadata", "annotations", "helm.sh/resource-policy")).toBe("keep");
      }
    },
    testMs,
  );
});
