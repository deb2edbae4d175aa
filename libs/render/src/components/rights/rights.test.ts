// SPDX-License-Identifier: Apache-2.0
/** Lists the rights of each process. e2e/integration/security/identity.test.ts shows that they are sufficient. */
import { expect, it } from "@jest/globals";
import type { Manifest, Role } from "../objects/kube-objects.ts";
import { renderComponents } from "../render-components.ts";
import { afxdpConfigWith, configWith, everyComponent, settingsWith } from "../testing/deployment.ts";

it("the components have exactly these rights", () => {
  const prometheusOperator = { serviceAccount: "prometheus-k8s", namespace: "monitoring", deployRules: true };
  const settings = settingsWith({ metricsExporter: { port: 9110, prometheusOperator } });
  const { components } = renderComponents({ sriov: configWith(everyComponent), afxdp: afxdpConfigWith() }, settings);
  const rights = components.flatMap(({ objects }) =>
    objects.filter(isRole).flatMap(({ kind, metadata, rules }) =>
      rules.map(({ verbs, apiGroups, resources, resourceNames: names = [] }) => {
        const objectsOf = `${resources.join(",")} of "${apiGroups.join(",")}"${names.map((name) => ` named ${name}`).join()}`;
        return `${kind}/${metadata.name}: ${verbs.join(",")} ${objectsOf}`;
      }),
    ),
  );
  const group = "sriovnetwork.openshift.io";
  const read = "get,list,watch";
  const afxdpKinds = "afxdpnetworknodepolicies,afxdpnetworknodestates,afxdpoperatorconfigs";
  const kinds = "sriovnetworknodepolicies,sriovnetworknodestates,sriovnetworkpoolconfigs";
  expect(rights).toEqual([
    `Role/operator-webhook: ${read} ${kinds} of "${group}"`,
    `Role/operator-webhook: ${read} sriovoperatorconfigs of "${group}" named default`,
    `Role/operator-webhook: ${read} ${afxdpKinds} of "afxdpnetwork.hns.dev"`,
    `Role/operator-webhook: ${read} configmaps of "" named supported-nic-ids`,
    `ClusterRole/operator-webhook: ${read} nodes,pods of ""`,
    'ClusterRole/operator-webhook: list,watch resourceclaims,resourceslices of "resource.k8s.io"',
    `Role/network-resources-injector: ${read} configmaps of "" named nri-control-switches`,
    `ClusterRole/network-resources-injector: ${read} network-attachment-definitions of "k8s.cni.cncf.io"`,
    `Role/sriov-network-config-daemon: ${read},patch sriovnetworknodestates of "${group}"`,
    `Role/sriov-network-config-daemon: patch sriovnetworknodestates/status of "${group}"`,
    `Role/sriov-network-config-daemon: ${read} sriovoperatorconfigs of "${group}" named default`,
    `Role/sriov-network-config-daemon: ${read},patch afxdpnetworknodestates of "afxdpnetwork.hns.dev"`,
    'Role/sriov-network-config-daemon: patch afxdpnetworknodestates/status of "afxdpnetwork.hns.dev"',
    `Role/sriov-network-config-daemon: ${read} afxdpoperatorconfigs of "afxdpnetwork.hns.dev" named default`,
    'Role/sriov-network-config-daemon: create,patch events of "events.k8s.io"',
    'ClusterRole/sriov-network-config-daemon: get,patch nodes of ""',
    `Role/sriov-plugin: ${read} sriovnetworknodestates of "${group}"`,
    `Role/sriov-plugin: patch sriovnetworknodestates/status of "${group}"`,
    `Role/sriov-plugin: ${read} sriovoperatorconfigs of "${group}" named default`,
    'ClusterRole/sriov-device-plugin: list,watch resourceslices of "resource.k8s.io"',
    `Role/afxdp-device-plugin: ${read} afxdpnetworknodestates of "afxdpnetwork.hns.dev"`,
    'Role/afxdp-device-plugin: patch afxdpnetworknodestates/status of "afxdpnetwork.hns.dev"',
    'ClusterRole/sriov-metrics-kube-rbac-role: create tokenreviews of "authentication.k8s.io"',
    'ClusterRole/sriov-metrics-kube-rbac-role: create subjectaccessreviews of "authorization.k8s.io"',
    `Role/prometheus-k8s: ${read} services,endpoints,pods of ""`,
    `Role/prometheus-k8s: ${read} endpointslices of "discovery.k8s.io"`,
  ]);
});

function isRole(object: Manifest): object is Role {
  return object.kind === "Role" || object.kind === "ClusterRole";
}
