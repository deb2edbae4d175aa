// SPDX-License-Identifier: Apache-2.0
/**
 * docs/security.md lists all service accounts that the chart and the operator create, with all roles to which they are bound, and no
 * others. The bundle for OpenShift is rendered from the chart.
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
    renderComponents({ sriov, afxdp }, componentSettings),
    renderComponents({ sriov, afxdp: { ...afxdp, spec: { provider: "upstream" } } }, componentSettings),
  ];
  expect(rendered[1]?.components.map(({ name }) => name)).toContain(afxdpComponents.upstream);
  return rendered.flatMap(({ components }) => components.flatMap(({ objects }) => objects));
}

/** By account: the roles of its bindings. Names of the release are written with "…". */
function rolesByAccount(objects: readonly object[]): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  const short = (name: unknown) => String(name).replace(/^sw(-sriov-network-operator)?(?=-|$)/, "…");
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

/** The rows of the table in the page. */
function rowsOfPage(): readonly string[] {
  const page = readFileSync(join(findWorkspaceRoot(), "docs/security.md"), "utf8");
  const [, section = ""] = page.split("\n### All accounts\n");
  const [table = ""] = section.split("\n#");
  return table.split("\n").filter((line) => line.startsWith("| `"));
}

describe("the accounts of the chart and the operator", () => {
  it("are all in docs/security.md with the roles to which they are bound", async () => {
    const rows = [...rolesByAccount([...(await chart.objects(everything)), ...operatorObjects()])].map(
      ([account, roles]) => `| \`${account}\` | ${[...roles].sort().join(", ") || "none"} |`,
    );
    const plain = (row: string) => row.replaceAll(/ +/g, " ");
    expect(rowsOfPage().map(plain).sort()).toEqual(rows.sort());
  });
});
