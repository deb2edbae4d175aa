// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { componentKinds } from "../objects/component-kinds.ts";
import type { Manifest, Role } from "../objects/kube-objects.ts";
import { operatorIdentity } from "./operator-identity.ts";
import { settingsWith } from "../testing/deployment.ts";

const rulesOf = (kind: Role["kind"], clusterType: "kubernetes" | "openshift" = "kubernetes") =>
  operatorIdentity(settingsWith({ clusterType }))
    .filter(isRole)
    .find((role) => role.kind === kind)?.rules ?? [];

// e2e/integration/security/identity.test.ts shows that the rights are sufficient.
describe("operatorIdentity", () => {
  it("grants nothing with a wildcard", () => {
    const all = [...rulesOf("Role", "openshift"), ...rulesOf("ClusterRole", "openshift")];
    expect(all.filter((rule) => JSON.stringify(rule).includes("*"))).toEqual([]);
  });

  it.each(["clusterroles", "clusterrolebindings", "mutatingwebhookconfigurations", "validatingadmissionpolicies"])(
    "limits write access to %s by name",
    (resource) => {
      const rules = rulesOf("ClusterRole").filter(({ resources }) => resources.includes(resource));
      expect(rules).not.toHaveLength(0);
      expect(rules.filter(({ resourceNames = [] }) => resourceNames.length === 0)).toEqual([]);
    },
  );

  it("grants no access to Secrets outside of its namespace", () => {
    expect(rulesOf("ClusterRole").filter(({ resources }) => resources.includes("secrets"))).toEqual([]);
  });

  const selfMade = { kind: "self-made" } as const;
  const given = { kind: "given", caBundle: "UEVN" } as const;
  it.each([
    { webhook: selfMade, injector: selfMade, names: ["webhook-cert", "injector-cert"] },
    { webhook: given, injector: selfMade, names: ["injector-cert"] },
    { webhook: given, injector: given, names: [] },
  ])(
    "grants access to the Secrets of the certificates that the operator creates: $names",
    ({ webhook, injector, names }) => {
      const servers = {
        webhook: { certificates: webhook, secretName: "webhook-cert", port: 6443 },
        injector: { certificates: injector, secretName: "injector-cert", port: 6443 },
      };
      const rules = operatorIdentity(settingsWith(servers))
        .filter(isRole)
        .flatMap((role) => role.rules)
        .filter(({ resources }) => resources.includes("secrets"));
      const verbs = ["get", "list", "watch", "update", "delete"];
      const secrets = { apiGroups: [""], resources: ["secrets"] };
      expect(rules).toEqual(
        names.length === 0
          ? []
          : [
              { ...secrets, resourceNames: names, verbs },
              { ...secrets, verbs: ["create"] },
            ],
      );
    },
  );

  it("grants create without a name only for its own kinds, those of bpfman, of ResourceClaims, Leases, Secrets, events, evictions and reviews", () => {
    const unnamed = [...rulesOf("Role", "openshift"), ...rulesOf("ClusterRole", "openshift")].filter(
      ({ verbs, resourceNames = [] }) => verbs.includes("create") && resourceNames.length === 0,
    );
    expect(unnamed.flatMap(({ resources }) => resources).sort()).toEqual([
      ...["afxdpnetworknodestates", "clusterbpfapplications", "deviceclasses"],
      ...["events", "events", "leases", "machineconfigs", "network-attachment-definitions", "pods/eviction"],
      ...["resourceslices", "secrets", "sriovnetworknodestates", "subjectaccessreviews", "tokenreviews", "xdpprograms"],
    ]);
  });

  it("grants changes to components by name, and neither bind nor escalate nor impersonate", () => {
    const all = [...rulesOf("Role", "openshift"), ...rulesOf("ClusterRole", "openshift")];
    const writing = ["create", "update", "patch", "delete"];
    const deployed = Object.values(componentKinds).map(({ plural }): string => plural);
    const unnamed = all.filter(({ resources, verbs, resourceNames = [] }) => {
      const isDeployed = resources.some((resource) => deployed.includes(resource));
      return isDeployed && resourceNames.length === 0 && verbs.some((verb) => writing.includes(verb));
    });
    expect(unnamed).toEqual([]);
    const never = ["bind", "escalate", "impersonate", "deletecollection", "approve", "sign"];
    expect(all.filter(({ verbs }) => verbs.some((verb) => never.includes(verb)))).toEqual([]);
  });

  it("grants no write access to the policy that limits the operator's Secrets, so it cannot remove its limit", () => {
    const settings = settingsWith({});
    const policies = operatorIdentity(settings).filter(({ kind }) => kind.startsWith("ValidatingAdmissionPolicy"));
    expect(policies.map(({ metadata: { name } }) => name)).toEqual(
      ["", ""].map(() => `${settings.operatorServiceAccount}-secrets`),
    );
    const names = rulesOf("ClusterRole")
      .filter(({ resources }) => resources.some((resource) => resource.startsWith("validatingadmissionpolic")))
      .map(({ resourceNames = [] }) => resourceNames);
    expect(names.length).toBeGreaterThan(0);
    expect(names.flat()).not.toContain(policies[0]?.metadata.name);
    expect(names).not.toContainEqual([]);
  });

  it("grants access to OpenShift's kinds on OpenShift only", () => {
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
