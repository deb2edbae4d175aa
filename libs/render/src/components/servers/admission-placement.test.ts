// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { DaemonSet, Manifest } from "../objects/kube-objects.ts";
import { renderComponents } from "../render-components.ts";
import { configWith, settingsWith } from "../testing/deployment.ts";
import { parseAdmissionPlacement, type AdmissionPlacement } from "./admission-placement.ts";

const isDaemonSet = (manifest: Manifest): manifest is DaemonSet => manifest.kind === "DaemonSet";

/** The pods of both servers, which have the same placement. */
function pods(admissionPlacement: AdmissionPlacement | undefined, isControlPlaneExternal = false) {
  const spec = { enableOperatorWebhook: true, enableInjector: true };
  const settings = settingsWith({ admissionPlacement, isControlPlaneExternal });
  const { components, problems } = renderComponents({ sriov: configWith(spec) }, settings);
  const servers = components.filter(({ name }) => ["operator-webhook", "network-resources-injector"].includes(name));
  const specs = servers.flatMap(({ objects }) => objects.filter(isDaemonSet)).map((set) => set.spec.template.spec);
  expect(specs).toHaveLength(2);
  const placements = specs.map(({ nodeSelector, affinity, tolerations }) => ({ nodeSelector, affinity, tolerations }));
  expect(placements[1]).toEqual(placements[0]);
  return { ...placements[0], problems: problems.map(({ message }) => message) };
}

const infra = { key: "infra", operator: "Exists" } as const;

describe("the placement of webhook and injector", () => {
  it("is on control plane nodes by default, also with further tolerations", () => {
    const { affinity, tolerations = [] } = pods({ tolerations: [infra] });
    expect(affinity).toEqual(pods(undefined).affinity);
    expect(affinity).toBeDefined();
    expect(tolerations).toEqual([...(pods(undefined).tolerations ?? []), infra]);
  });

  it("is on the chosen nodes, which may also be those of the control plane", () => {
    const chosen = pods({ nodeSelector: { pool: "infra" } });
    expect(chosen.nodeSelector).toEqual({ "kubernetes.io/os": "linux", pool: "infra" });
    expect(chosen.affinity).toBeUndefined();
    expect(chosen.tolerations).toEqual(pods(undefined).tolerations);
    const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } };
    expect(pods({ affinity }).affinity).toEqual(affinity);
  });

  it("says that any node may run them only if nobody has chosen", () => {
    expect(pods(undefined, true).problems).toContainEqual(expect.stringContaining("no control plane node is visible"));
    expect(pods({ nodeSelector: { pool: "infra" } }, true).problems).toEqual([]);
    expect(pods({ tolerations: [infra] }, true)).toMatchObject({ affinity: undefined, tolerations: [infra] });
  });
});

describe("parseAdmissionPlacement", () => {
  it("reads the fields of a pod", () => {
    const text = JSON.stringify({ nodeSelector: { a: "b" }, tolerations: [infra], affinity: {} });
    expect(parseAdmissionPlacement(text)).toEqual({ nodeSelector: { a: "b" }, tolerations: [infra] });
    expect(parseAdmissionPlacement('{"tolerations":[{"key":"a","value":"b","effect":"NoExecute"}]}')).toBeDefined();
  });

  it.each([
    "",
    "[]",
    "null",
    '{"nodeSelector":{"a":1}}',
    '{"nodeSelector":"a"}',
    '{"tolerations":{}}',
    '{"tolerations":[{"operator":"Like","key":"a"}]}',
    '{"tolerations":[{"value":"b"}]}',
    '{"tolerations":[{"key":"a","effect":"Never"}]}',
    '{"tolerations":[{"key":"a","other":"b"}]}',
    '{"affinity":"near"}',
    '{"hostNetwork":true}',
  ])("refuses %s", (text) => {
    expect(parseAdmissionPlacement(text)).toBeUndefined();
  });
});
