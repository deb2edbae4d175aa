// SPDX-License-Identifier: Apache-2.0
/**
 * docs/security.md lists all service accounts that the chart and the operator create, with all roles to which they are bound, and all
 * pods that need more than the Pod Security Standard "restricted" allows. The bundle for OpenShift is rendered from the chart.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { isRecord } from "@switchyard/kube";
import { afxdpComponents, renderComponents } from "@switchyard/render";
import { findWorkspaceRoot } from "@switchyard/testing";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { componentSettings, everyComponent } from "../../src/operator/identity-objects.ts";
import { chartTemplates, type ChartTemplates } from "./template-chart.ts";

let chart: ChartTemplates;

beforeAll(async () => {
  chart = await chartTemplates();
});
afterAll(() => {
  chart[Symbol.dispose]();
});

/** Values with which the chart creates all accounts. */
const everything = {
  ovnOffload: { enabled: true },
  eveBridge: { enabled: true },
  crds: { keep: false },
  hooks: { giveHostsBack: { enabled: true } },
  operator: { metricsExporter: { prometheusOperator: { enabled: true } } },
};

/** What the operator creates, with each provider of AF_XDP devices. */
function operatorObjects(): readonly object[] {
  const metadata = { ...everyComponent.metadata, uid: "1" };
  const afxdp = { apiVersion: "afxdpnetwork.hns.dev/v1alpha1", kind: "AfxdpOperatorConfig", metadata } as const;
  const sriov = { ...everyComponent, metadata };
  const rendered = [
    renderComponents({ sriov, afxdp }, { ...componentSettings, usesClaims: true }),
    renderComponents({ sriov, afxdp: { ...afxdp, spec: { provider: "upstream" } } }, componentSettings),
  ];
  expect(rendered[1]?.components.map(({ name }) => name)).toContain(afxdpComponents.upstream);
  return rendered.flatMap(({ components }) => components.flatMap(({ objects }) => objects));
}

/** Names of the release begin with "…". */
const short = (name: unknown) => String(name).replace(/^sw(-sriov-network-operator)?(?=-|$)/, "…");

/** By account: the roles of its bindings. */
function rolesByAccount(objects: readonly object[]): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const object of objects.filter(isRecord)) {
    const { kind, metadata, subjects, roleRef } = object;
    if (kind === "ServiceAccount" && isRecord(metadata)) {
      const name = short(metadata["name"]);
      found.set(name, found.get(name) ?? new Set());
    }
    if (!Array.isArray(subjects) || !isRecord(roleRef)) continue;
    for (const subject of subjects.filter(isRecord)) {
      const name = short(subject["name"]);
      const roles = found.get(name) ?? new Set();
      found.set(name, roles.add(`${String(roleRef["kind"])} ${short(roleRef["name"])}`));
    }
  }
  return found;
}

/** The rows of the table below a heading of the page, without their alignment. */
function rowsOfPage(heading: string): readonly string[] {
  const page = readFileSync(join(findWorkspaceRoot(), "docs/security.md"), "utf8");
  const [, section = ""] = page.split(`\n### ${heading}\n`);
  const [table = ""] = section.split("\n#");
  const rows = table.split("\n").filter((line) => line.startsWith("| `"));
  return rows.map((row) => row.replaceAll(/ +/g, " ")).sort();
}

/** The names of the roles of this kind. */
function namesOf(roles: ReadonlySet<string>, kind: "ClusterRole" | "Role"): string {
  const names = [...roles].filter((role) => role.startsWith(`${kind} `)).map((role) => role.slice(kind.length + 1));
  return names.sort().join(", ") || "none";
}

describe("the accounts of the chart and the operator", () => {
  it("are all in docs/security.md with the roles to which they are bound", async () => {
    const rows = [...rolesByAccount([...(await chart.objects(everything)), ...operatorObjects()])].map(
      ([account, roles]) => `| \`${account}\` | ${namesOf(roles, "ClusterRole")} | ${namesOf(roles, "Role")} |`,
    );
    expect(rowsOfPage("All accounts")).toEqual(rows.sort());
  });
});

type Json = Readonly<Record<string, unknown>>;

const membersOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const memberOf = (value: Json, key: string): Json => (isRecord(value[key]) ? value[key] : {});

/** What a pod needs beyond the standard "restricted" (kubernetes.io/docs/concepts/security/pod-security-standards). */
function beyondRestricted(pod: Json): readonly string[] {
  const { hostNetwork, hostPID, hostIPC } = pod;
  const volumes = membersOf(pod["volumes"]);
  const ofPod = memberOf(pod, "securityContext");
  const found = new Set<string>();
  if (hostNetwork === true) found.add("hostNetwork");
  if (hostPID === true) found.add("hostPID");
  if (hostIPC === true) found.add("hostIPC");
  if (volumes.some((volume) => "hostPath" in volume)) found.add("hostPath");
  for (const container of [...membersOf(pod["initContainers"]), ...membersOf(pod["containers"])]) {
    const own = memberOf(container, "securityContext");
    const { drop, add } = memberOf(own, "capabilities");
    if (own["privileged"] === true) found.add("privileged");
    if (own["privileged"] !== true && own["allowPrivilegeEscalation"] !== false) found.add("escalation");
    if (own["privileged"] !== true && !(Array.isArray(drop) && drop.includes("ALL"))) found.add("capabilities");
    if (Array.isArray(add) && add.some((name) => name !== "NET_BIND_SERVICE")) found.add("capabilities");
    if ((own["runAsNonRoot"] ?? ofPod["runAsNonRoot"]) !== true || own["runAsUser"] === 0) found.add("root");
    const seccomp = { ...memberOf(ofPod, "seccompProfile"), ...memberOf(own, "seccompProfile") };
    if (seccomp["type"] !== "RuntimeDefault" && own["privileged"] !== true) found.add("seccomp");
  }
  return [...found].sort();
}

describe("the pods of the chart and the operator", () => {
  it("are in the network of their host, or a NetworkPolicy limits both directions, by default", async () => {
    const objects = [...(await chart.objects(everything)), ...operatorObjects()].filter(isRecord);
    const policies = objects.filter(({ kind }) => kind === "NetworkPolicy").map((policy) => memberOf(policy, "spec"));
    const open = objects.flatMap((object) => {
      const spec = memberOf(object, "spec");
      const pod = object["kind"] === "Pod" ? object : memberOf(spec, "template");
      const podSpec = memberOf(pod, "spec");
      if (!Array.isArray(podSpec["containers"]) || podSpec["hostNetwork"] === true) return [];
      const labels = memberOf(memberOf(pod, "metadata"), "labels");
      const limiting = policies.filter((policy) => {
        const wanted = Object.entries(memberOf(memberOf(policy, "podSelector"), "matchLabels"));
        return wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value);
      });
      const directions = limiting.map((policy) => JSON.stringify(policy["policyTypes"]));
      const name = short(memberOf(object, "metadata")["name"]);
      const isLimited = directions.some((both) => both === '["Ingress","Egress"]');
      return isLimited ? [] : [name];
    });
    expect(open).toEqual([]);
  });

  it("meet the Pod Security Standard restricted, except for those in docs/security.md with what they need", async () => {
    const needs = new Map<string, ReadonlySet<string>>();
    for (const object of [...(await chart.objects(everything)), ...operatorObjects()].filter(isRecord)) {
      const { kind, metadata, spec } = object;
      if (!isRecord(metadata) || !isRecord(spec)) continue;
      const template = kind === "Pod" ? spec : memberOf(memberOf(spec, "template"), "spec");
      if (!Array.isArray(template["containers"])) continue;
      const beyond = beyondRestricted(template);
      const name = short(metadata["name"]);
      if (beyond.length > 0) needs.set(name, new Set([...(needs.get(name) ?? []), ...beyond]));
    }
    const rows = [...needs].map(([name, beyond]) => `| \`${name}\` | ${[...beyond].sort().join(", ")} |`);
    expect(rowsOfPage("Pods with more than restricted")).toEqual(rows.sort());
  });
});
