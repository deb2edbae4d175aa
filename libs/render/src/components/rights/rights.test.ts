// SPDX-License-Identifier: Apache-2.0
/**
 * Compares the rights of each process, and what admission policies take away from them, with the reviewed lists in __snapshots__.
 * `npm test -- libs/render -u` writes the lists again; read the difference. e2e/integration/security/identity.test.ts shows that the
 * rights are sufficient.
 */
import { expect, it } from "@jest/globals";
import { renderComponents } from "../render-components.ts";
import { afxdpConfigWith, configWith, everyComponent, settingsWith } from "../testing/deployment.ts";
import { rightsList } from "../testing/rights-list.ts";
import { operatorIdentity } from "./operator-identity.ts";

const prometheusOperator = { serviceAccount: "prometheus-k8s", namespace: "monitoring", deployRules: true };

it("the components have exactly these rights", () => {
  const metricsExporter = { port: 9110, prometheusOperator };
  const settings = settingsWith({ clusterType: "openshift", usesClaims: true, metricsExporter });
  const { components } = renderComponents({ sriov: configWith(everyComponent), afxdp: afxdpConfigWith() }, settings);
  expect(rightsList(components.flatMap(({ objects }) => objects)).join("\n")).toMatchSnapshot();
});

it("the operator has exactly these rights", () => {
  expect(rightsList(operatorIdentity(settingsWith({ clusterType: "openshift" }))).join("\n")).toMatchSnapshot();
});
