// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { Role } from "./kube-objects.ts";
import type { Manifest } from "./manifest.ts";
import { operatorIdentity } from "./operator-identity.ts";
import { settingsWith } from "./testing/deployment.ts";

const rulesOf = (kind: Role["kind"], clusterType: "kubernetes" | "openshift" = "kubernetes") =>
  operatorIdentity(settingsWith({ clusterType }))
    .filter(isRole)
    .find((role) => role.kind === kind)?.rules ?? [];

// That it suffices, e2e/integration/identity.test.ts shows.
describe("operatorIdentity", () => {
  it("grants nothing by a wildcard", () => {
    const all = [...rulesOf("Role", "openshift"), ...rulesOf("ClusterRole", "openshift")];
    expect(all.filter((rule) => JSON.stringify(rule).includes("*"))).toEqual([]);
  });

  it.each(["clusterroles", "clusterrolebindings", "mutatingwebhookconfigurations", "validatingadmissionpolicies"])(
    "bounds what it may write of %s by name",
    (resource) => {
      const rules = rulesOf("ClusterRole").filter(({ resources }) => resources.includes(resource));
      expect(rules).not.toHaveLength(0);
      expect(rules.filter(({ resourceNames = [] }) => resourceNames.length === 0)).toEqual([]);
    },
  );

  it("reads no Secret outside of its namespace", () => {
    expect(rulesOf("ClusterRole").filter(({ resources }) => resources.includes("secrets"))).toEqual([]);
  });

  it("knows kinds of OpenShift on OpenShift only", () => {
    const groups = (clusterType: "kubernetes" | "openshift") =>
      [...rulesOf("Role", clusterType), ...rulesOf("ClusterRole", clusterType)].flatMap(({ apiGroups }) => apiGroups);
    const openshift = ["config.openshift.io", "machineconfiguration.openshift.io", "security.openshift.io"];
    expect(groups("openshift")).toEqual(expect.arrayContaining(openshift));
    expect(groups("kubernetes").filter((group) => openshift.includes(group))).toEqual([]);
  });
});

function isRole(object: Manifest): object is Role {
  return object.kind === "Role" || object.kind === "ClusterRole";
}
