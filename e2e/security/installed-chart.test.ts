// SPDX-License-Identifier: Apache-2.0
/**
 * Attacks with the tokens of all service accounts that exist after `helm install`, on a real API server. The accounts come from the cluster,
 * so one that a template adds is attacked, too. Pods are processes; the webhook's is a stand-in.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { connect, isKubeError, isRecord, type Transport } from "@switchyard/kube";
import { namespace } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { startChartCluster, switchyardChart, type ChartCluster } from "../src/helm/chart-cluster.ts";

const values = {
  sriovOperatorConfig: { deploy: true },
  operator: { admissionControllers: { enabled: true } },
  ovnOffload: { enabled: false },
};

let place: ChartCluster;
let accounts: readonly string[];

const kubectl = (...args: readonly string[]) => place.testCluster.kubectl(args);

beforeAll(async () => {
  place = await startChartCluster("helm4");
  await kubectl("label", "node", "control-1", "node-role.kubernetes.io/worker=");
  await place.helm.run(["install", "sriov", switchyardChart, "--wait", "--timeout", "120s"], values);
  await eventually("the webhook is registered", async () => (await registeredPaths()).length === 2, {
    withinMs: 120_000,
  });
  accounts = (await kubectl("get", "serviceaccounts", "-n", namespace, "-o", "jsonpath={.items[*].metadata.name}"))
    .split(" ")
    .filter((name) => name !== "default");
}, 600_000);

afterAll(async () => {
  await disposeOf(place);
}, 60_000);

async function registeredPaths(): Promise<readonly string[]> {
  const kinds = "mutatingwebhookconfigurations,validatingwebhookconfigurations";
  const text = await kubectl("get", kinds, "-o", "jsonpath={.items[*].webhooks[*].clientConfig.service.path}");
  return text.split(" ").filter((path) => path.endsWith("-custom-resource"));
}

/** Connects with a token of the account. */
async function asAccount(name: string): Promise<Transport> {
  const token = await kubectl("create", "token", name, "-n", namespace);
  return connect({ kubeconfig: await place.testCluster.cluster.clientFor({ token: token.trim() }) });
}

/** What no account may do: verb, API group, resource, and the namespace or "" for the whole cluster. */
const forbidden: readonly (readonly [verb: string, group: string, resource: string, inNamespace: string])[] = [
  ["*", "*", "*", ""],
  ["escalate", "rbac.authorization.k8s.io", "clusterroles", ""],
  ["bind", "rbac.authorization.k8s.io", "clusterroles", ""],
  ["impersonate", "", "users", ""],
  ["create", "rbac.authorization.k8s.io", "clusterrolebindings", ""],
  ["create", "", "serviceaccounts/token", namespace],
  ["create", "", "pods", namespace],
  ["create", "", "pods/exec", namespace],
  ["list", "", "secrets", namespace],
  ["get", "", "secrets", "kube-system"],
  ["patch", "", "nodes/status", ""],
  ["delete", "", "nodes", ""],
];

describe("after helm install", () => {
  it("no account can get more rights, pods, tokens or Secrets of others", async () => {
    expect(accounts.length).toBeGreaterThan(4);
    const granted: string[] = [];
    for (const account of accounts) {
      await using client = await asAccount(account);
      for (const [verb, group, path, inNamespace] of forbidden) {
        const [resource = "", subresource = ""] = path.split("/");
        const resourceAttributes = { verb, group, resource, subresource, namespace: inNamespace };
        const answer = await client.request({
          method: "POST",
          path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
          body: {
            apiVersion: "authorization.k8s.io/v1",
            kind: "SelfSubjectAccessReview",
            spec: { resourceAttributes },
          },
        });
        const status = isRecord(answer) && isRecord(answer["status"]) ? answer["status"] : {};
        if (status["allowed"] !== false) granted.push(`${account}: ${verb} ${path}`);
      }
    }
    expect(granted).toEqual([]);
  }, 300_000);

  it("the accounts of the Jobs before an installation are gone", () => {
    expect(accounts.filter((name) => name.includes("pre-upgrade"))).toEqual([]);
  });

  it("the operator's token cannot get the token of another account through a Secret", async () => {
    await using client = await asAccount("sriov-sriov-network-operator");
    const stolen = accounts.find((name) => name.endsWith("pre-delete-hook")) ?? "default";
    const body = {
      apiVersion: "v1",
      kind: "Secret",
      type: "kubernetes.io/service-account-token",
      metadata: { name: "stolen", namespace, annotations: { "kubernetes.io/service-account.name": stolen } },
    };
    const request = client.request({ method: "POST", path: `/api/v1/namespaces/${namespace}/secrets`, body });
    const refusal = await request.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(isKubeError(refusal, "Forbidden", "Invalid")).toBe(true);
    expect(String(refusal)).toContain("ValidatingAdmissionPolicy");
  });

  it("the webhook is registered at a secret path, which no other object shows to the accounts", async () => {
    const paths = await registeredPaths();
    for (const path of paths) expect(path).toMatch(/^\/[0-9a-f]{32}\/(mutating|validating)-custom-resource$/);
    const operator = "sriov-sriov-network-operator";
    for (const account of accounts.filter((name) => name !== operator)) {
      await using client = await asAccount(account);
      const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
      const refused = await client.request({ method: "GET", path }).then(
        () => false,
        (error: unknown) => isKubeError(error, "Forbidden"),
      );
      expect([account, refused]).toEqual([account, true]);
    }
  });

  it("NetworkPolicies limit operator, webhook and injector", async () => {
    const text = await kubectl(
      "get",
      "networkpolicies",
      "-n",
      namespace,
      "-o",
      "jsonpath={.items[*].spec.policyTypes}",
    );
    expect(text.split("] [").length).toBeGreaterThanOrEqual(4);
    expect(text).not.toContain('["Ingress"]');
  });
});
