// SPDX-License-Identifier: Apache-2.0
/** `switchyard migrate leftovers` on a real API server: its output is a script that removes what it lists, and nothing else. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { namespace } from "@switchyard/test-cluster";
import { binariesFor, ensureBinaries, runProgram, startControlPlane, type ControlPlane } from "@switchyard/testing";
import { join } from "node:path";
import { crdFolder, workspace } from "../../src/crds/crd-objects.ts";

const kept = { annotations: { "helm.sh/resource-policy": "keep" } };
const daemon = { name: "sriov-network-config-daemon", namespace };
const limit = "switchyard-own-node";

/** What Switchyard leaves, beside objects that the Go operator needs. */
const objects = [
  { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "switchyard-operator", namespace } },
  { apiVersion: "v1", kind: "ServiceAccount", metadata: { ...daemon, ...kept } },
  { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata: daemon, rules: [] },
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: limit },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["nodes"] }],
      },
      validations: [{ expression: "true" }],
    },
  },
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: limit },
    spec: { policyName: limit, validationActions: ["Deny"] },
  },
  {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovOperatorConfig",
    metadata: { name: "default", namespace, ...kept },
    spec: {},
  },
];

/** The Deployment of Switchyard's chart. */
const operator = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: {
    ...{ name: "sriov", namespace },
    labels: { "app.kubernetes.io/name": "switchyard", "app.kubernetes.io/component": "operator" },
  },
  spec: {
    selector: { matchLabels: { name: "operator" } },
    template: {
      metadata: { labels: { name: "operator" } },
      spec: { containers: [{ name: "operator", image: "example.com/operator:1" }] },
    },
  },
};

let cluster: ControlPlane;
let kubectl: string;

beforeAll(async () => {
  kubectl = await ensureBinaries({ names: binariesFor({}) });
  cluster = await startControlPlane();
  await cluster.applyCrds(crdFolder);
  await cluster.kubectl(["create", "namespace", namespace]);
  await create([...objects, operator]);
}, 600_000);
afterAll(() => cluster[Symbol.asyncDispose](), 60_000);

async function create(items: readonly object[]): Promise<void> {
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  await cluster.kubectl(["create", "-f", "-"], { input });
}

async function list() {
  const cli = join(workspace, "apps/cli/src/main.ts");
  return runProgram(process.execPath, [cli, "migrate", "leftovers", "--kubeconfig", cluster.kubeconfig]);
}

describe("switchyard migrate leftovers", () => {
  it("refuses while Switchyard's operator is deployed, which needs the objects", async () => {
    const { status, stderr } = await list();
    expect(status).toBe("1");
    expect(stderr).toContain("is Switchyard's operator, which needs these objects: go back first");
    await cluster.kubectl(["-n", namespace, "scale", "deployment", "sriov", "--replicas=0"]);
  });

  it("prints a script that removes what Switchyard has left, and keeps what the Go operator needs", async () => {
    const { stdout: script } = await list();
    expect(script.split("\n").filter((line) => line.startsWith("kubectl"))).toHaveLength(5);
    const env = { PATH: `${kubectl}:${process.env["PATH"] ?? ""}` };
    expect(await runProgram("sh", ["-ec", script], { env })).toMatchObject({ status: "0" });
    expect((await list()).stdout).toBe(`# nothing of Switchyard is left in namespace ${namespace}\n`);
    const names = ["serviceaccount/sriov-network-config-daemon", "role/sriov-network-config-daemon"];
    const rest = await cluster.kubectl(["-n", namespace, "get", ...names, "sriovoperatorconfig/default", "-o", "json"]);
    expect(rest).not.toContain("helm.sh/resource-policy");
    expect((JSON.parse(rest) as { items: unknown[] }).items).toHaveLength(3);
  });
});
