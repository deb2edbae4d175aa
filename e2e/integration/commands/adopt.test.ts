// SPDX-License-Identifier: Apache-2.0
/** `operator adopt` against a real API server: objects of upstream's release, of another release, of nobody, and each fault. */
import { afterAll, beforeAll, beforeEach, expect, it } from "@jest/globals";
import { connect, isKubeObject, objectPath, type KubeObject, type Transport } from "@switchyard/kube";
import { componentKinds } from "@switchyard/render";
import { sriovOperatorConfigs, type ResourceType } from "@switchyard/api";
import { findWorkspaceRoot, startControlPlane, type ControlPlane } from "@switchyard/testing";
import { join } from "node:path";
import { startOperatorCommand, type CommandEnd } from "../../src/operator/operator-command.ts";

const testMs = 3 * 60_000;
const namespace = "sriov-network-operator";
const account = "sriov-network-config-daemon";
const { ServiceAccount, ClusterRole, ClusterRoleBinding, Role, RoleBinding } = componentKinds;
const types: readonly ResourceType[] = [ServiceAccount, ClusterRole, ClusterRoleBinding, Role, RoleBinding];

let stack: AsyncDisposableStack;
let cluster: ControlPlane;
let transport: Transport;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  cluster = stack.use(await startControlPlane());
  transport = stack.use(await connect({ kubeconfig: cluster.kubeconfig }));
  await cluster.applyCrds(join(findWorkspaceRoot(), "charts/switchyard/crds"));
  await cluster.kubectl(["create", "namespace", namespace]);
}, testMs);
afterAll(() => stack.disposeAsync(), testMs);

/** The metadata that Helm gives each object of a release. */
const ofRelease = (release: string) => ({
  labels: { "app.kubernetes.io/managed-by": "Helm" },
  annotations: { "meta.helm.sh/release-name": release, "meta.helm.sh/release-namespace": namespace },
});

const place = (type: ResourceType, name: string) => (type.namespaced ? { name, namespace } : { name });

/** Replaces the five objects and the SriovOperatorConfig. */
async function install(metadataOf: (type: ResourceType) => object): Promise<void> {
  const roleRef = (kind: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name: account });
  const bodies: Readonly<Record<string, object>> = {
    RoleBinding: { roleRef: roleRef("Role") },
    ClusterRoleBinding: { roleRef: roleRef("ClusterRole") },
    SriovOperatorConfig: { spec: { logLevel: 2 } },
  };
  const items = [...types, sriovOperatorConfigs].map((type) => {
    const { group, version, kind } = type;
    const name = kind === sriovOperatorConfigs.kind ? "default" : account;
    const metadata = { ...place(type, name), ...metadataOf(type) };
    return { apiVersion: group === "" ? version : `${group}/${version}`, kind, metadata, ...bodies[kind] };
  });
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  await cluster.kubectl(["delete", "--ignore-not-found", "-f", "-"], { input });
  await cluster.kubectl(["create", "-f", "-"], { input });
}

async function read(type: ResourceType, name = account): Promise<KubeObject> {
  const object = await transport.request({ method: "GET", path: objectPath(type, place(type, name)) });
  if (!isKubeObject(object)) throw new TypeError("no object");
  return object;
}

const readAll = async (): Promise<readonly KubeObject[]> => [
  ...(await Promise.all(types.map((type) => read(type)))),
  await read(sriovOperatorConfigs, "default"),
];

const adopt = (...args: readonly string[]): Promise<CommandEnd> => {
  const common = ["--kubeconfig", cluster.kubeconfig, "--namespace", namespace];
  return startOperatorCommand(["adopt", "--release", "sriov", ...common, ...args]).ended;
};

const keep = "helm.sh/resource-policy";

beforeEach(() => install(() => ofRelease("sriov")), testMs);

it(
  "makes Helm keep the objects of the release, changes nothing else, and writes nothing when it is repeated",
  async () => {
    const before = await readAll();
    const end = await adopt();
    expect(end).toMatchObject({ code: 0, errors: "" });
    expect(end.lines).toContain(`ServiceAccount ${account}: annotated: Helm keeps it`);
    const after = await readAll();
    for (const [index, { metadata, ...fields }] of after.entries()) {
      const { metadata: old, ...oldFields } = before[index] ?? { metadata: undefined };
      expect(metadata.annotations).toEqual({ ...old?.annotations, [keep]: "keep" });
      expect([metadata.uid, metadata.labels, fields]).toEqual([old?.uid, old?.labels, oldFields]);
    }
    expect((await adopt()).lines).toContain(`ServiceAccount ${account}: unchanged; Helm keeps it`);
    expect(await readAll()).toEqual(after);
  },
  testMs,
);

it(
  "only says what it would do with --dry-run",
  async () => {
    const before = await readAll();
    const end = await adopt("--dry-run");
    expect(end).toMatchObject({ code: 0, errors: "" });
    expect(end.lines).toContain(`ClusterRole ${account}: would be annotated: Helm keeps it`);
    expect(await readAll()).toEqual(before);
  },
  testMs,
);

it.each([
  { of: "another release", metadata: ofRelease("other"), says: 'belongs to release "other"' },
  { of: "nobody", metadata: {}, says: "Helm has not installed it" },
])(
  "reports objects of $of and leaves them",
  async ({ metadata, says }) => {
    await install(() => metadata);
    const before = await readAll();
    const end = await adopt();
    expect(end).toMatchObject({ code: 0, errors: "" });
    expect(end.lines).toHaveLength(6);
    for (const line of end.lines) expect(line).toContain(`not changed; ${says}`.slice(0, 13));
    expect(end.lines.join("\n")).toContain(says);
    expect(await readAll()).toEqual(before);
  },
  testMs,
);

it(
  "gives the release a SriovOperatorConfig of kubectl only with --include-config",
  async () => {
    await install((type) => (type.kind === sriovOperatorConfigs.kind ? {} : ofRelease("sriov")));
    await adopt();
    expect((await read(sriovOperatorConfigs, "default")).metadata.annotations).toBeUndefined();
    const end = await adopt("--include-config");
    expect(end).toMatchObject({ code: 0, errors: "" });
    const { metadata } = await read(sriovOperatorConfigs, "default");
    const { labels, annotations } = ofRelease("sriov");
    expect([metadata.labels, metadata.annotations]).toEqual([labels, { ...annotations, [keep]: "keep" }]);
  },
  testMs,
);

it(
  "reports objects that do not exist, and a cluster without the kinds of the operator",
  async () => {
    await cluster.kubectl(["-n", namespace, "delete", "serviceaccount", account]);
    await cluster.kubectl(["delete", "crd", "sriovoperatorconfigs.sriovnetwork.openshift.io"]);
    const end = await adopt();
    expect(end).toMatchObject({ code: 0, errors: "" });
    expect(end.lines).toContain(`ServiceAccount ${account}: does not exist`);
    expect(end.lines).toContain("SriovOperatorConfig default: does not exist");
    await cluster.applyCrds(join(findWorkspaceRoot(), "charts/switchyard/crds"));
  },
  testMs,
);

it(
  "exits with 1 if it may not annotate an object, names it and annotates the others",
  async () => {
    await cluster.kubectl(["create", "clusterrole", "adopter", "--verb=get,patch", "--resource=serviceaccounts,roles"]);
    await cluster.kubectl(["create", "clusterrolebinding", "adopter", "--clusterrole=adopter", "--user=adopter"]);
    const kubeconfig = await cluster.clientFor({ user: "adopter", groups: [] });
    const args = ["adopt", "--release", "sriov", "--kubeconfig", kubeconfig, "--namespace", namespace];
    const end = await startOperatorCommand(args).ended;
    expect(end.code).toBe(1);
    expect(end.lines).toContain(`ServiceAccount ${account}: annotated: Helm keeps it`);
    expect(end.errors).toMatch(new RegExp(`ClusterRole ${account}: GET .*Forbidden`));
  },
  testMs,
);

it.each([
  { args: ["adopt", "--namespace", "x"], says: "flag --release is required" },
  { args: ["adopt", "--release", "x"], says: "flag --namespace is required" },
])("$args exits with 64", async ({ args, says }) => {
  expect(await startOperatorCommand(args).ended).toMatchObject({ code: 64, errors: expect.stringContaining(says) });
});
