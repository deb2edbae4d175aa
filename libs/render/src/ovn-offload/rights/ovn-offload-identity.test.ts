// SPDX-License-Identifier: Apache-2.0
/** e2e/ovn-offload shows on a real API server that the rights are sufficient, and what they do not allow. */
import { describe, expect, it } from "@jest/globals";
import type { Manifest, RequestRule, Role } from "../../components/objects/kube-objects.ts";
import { rightsList } from "../../components/testing/rights-list.ts";
import { defaultOffloadNetwork } from "../offload-network.ts";
import { ovnOffloadIdentity } from "./ovn-offload-identity.ts";

const settings = {
  namespace: "sriov",
  serviceAccount: "ovn-offload",
  ovnNamespace: "ovn-kubernetes",
  network: defaultOffloadNetwork,
  hostLabel: "network.operator.openshift.io/dpu-host",
};
const clusterTypes = [{ clusterType: "openshift" }, { clusterType: "kubernetes" }] as const;

const rulesOf = (objects: readonly Manifest[]) => objects.flatMap((object) => (isRole(object) ? object.rules : []));

describe.each(clusterTypes)("the rights of ovn-offload with $clusterType", ({ clusterType }) => {
  const { reading, limits, writing } = ovnOffloadIdentity({ ...settings, clusterType });

  it("are exactly those of the reviewed list", () => {
    expect(rightsList([...reading, ...limits, ...writing]).join("\n")).toMatchSnapshot();
  });

  it("grant nothing with a wildcard, no Secrets, roles or admission policies, and of pods only their list", () => {
    const rules = rulesOf([...reading, ...writing]);
    const resources = rules.flatMap((rule) => rule.resources);
    expect(JSON.stringify(rules)).not.toContain("*");
    const ofPods = rules.filter((rule) => rule.resources.some((name) => name.startsWith("pods")));
    expect(ofPods.map(({ resources: names, verbs }) => [names, verbs])).toEqual([[["pods"], ["list"]]]);
    expect(resources.filter((name) => /secrets|roles|bindings|policies$|webhook/.test(name))).toEqual(
      resources.filter((name) => name === "sriovnetworknodepolicies"),
    );
  });

  it("limit by an admission policy what RBAC cannot limit by name", () => {
    const unnamed = rulesOf([...reading, ...writing]).filter(({ verbs, resources, resourceNames = [] }) => {
      if (resources.includes("events")) return false; // nothing acts on them
      return resourceNames.length === 0 && verbs.some((verb) => ["create", "patch", "delete"].includes(verb));
    });
    expect(unnamed.length).toBeGreaterThan(3);
    const limited = limits.flatMap((object) => (isPolicy(object) ? object.spec.matchConstraints.resourceRules : []));
    for (const { resources, verbs } of unnamed) {
      const rule = limited.find((one) => resources.every((name) => one.resources.includes(name)));
      const operations = verbs.map((verb) => ({ create: "CREATE", patch: "UPDATE", delete: "DELETE" })[verb]);
      expect([resources, rule?.operations]).toEqual([resources, expect.arrayContaining(operations)]);
    }
  });

  it("let the service write only status, events and its Lease without `writing`", () => {
    const written = rulesOf(reading).filter(({ verbs }) =>
      verbs.some((verb) => !["get", "list", "watch"].includes(verb)),
    );
    expect(written.flatMap(({ resources }) => resources)).toEqual([
      ...["sriovoperatorconfigs/status", "events", "leases", "leases"],
    ]);
  });
});

it("do not contain OpenShift's kinds in other clusters, except to find out that they do not exist", () => {
  const { limits, writing } = ovnOffloadIdentity({ ...settings, clusterType: "kubernetes" });
  expect(JSON.stringify([limits, rulesOf(writing)])).not.toMatch(/machineconfiguration|operator\.openshift\.io"/);
});

interface Limit extends Manifest {
  readonly spec: { readonly matchConstraints: { readonly resourceRules: readonly RequestRule[] } };
}

function isPolicy(object: Manifest): object is Limit {
  return object.kind === "ValidatingAdmissionPolicy";
}

function isRole(object: Manifest): object is Role {
  return object.kind === "Role" || object.kind === "ClusterRole";
}
