// SPDX-License-Identifier: Apache-2.0
/**
 * The chart's values `images`, with the versions of other projects' images. Each is named here and nowhere else.
 */
import { value, type Value } from "./value-tree.ts";

const parts = {
  registry: { type: "string", pattern: "^[^/ ]*$" },
  repository: { type: "string", pattern: "^[^:@ ]*$" },
  tag: { type: "string", pattern: "^[A-Za-z0-9_.-]*$" },
  digest: { type: "string", pattern: "^(sha256:[0-9a-f]{64})?$" },
};

function image(reference: string, what: string, { hasPullPolicy = false, extra = "" } = {}): Value {
  const pullPolicy = { pullPolicy: { enum: ["", "Always", "IfNotPresent", "Never"] } };
  const properties = hasPullPolicy ? { ...parts, ...pullPolicy } : parts;
  const schema = {
    anyOf: [{ type: "string" }, { type: "object", properties, additionalProperties: false }],
  };
  return value("string or object", reference, `Image of ${what}.${extra}`, schema, { isCommented: true });
}

const own = "ghcr.io/switchyard/switchyard-";
const plumbing = "ghcr.io/k8snetworkplumbingwg/";
const optional = " If empty, the plugin is not installed.";

export const images = {
  operator: image(`${own}operator`, "the operator and of the Jobs of the chart", { hasPullPolicy: true }),
  sriovConfigDaemon: image(`${own}config-daemon`, "the config daemon"),
  devicePluginConfig: image(
    `${own}device-plugin-config`,
    "the container that configures the device plugin on each node",
  ),
  sriovDraDriver: image(`${own}dra-driver`, "the driver that gives VFs to pods by ResourceClaims"),
  afxdpDevicePlugin: image(`${own}afxdp-device-plugin`, "the device plugin for AF_XDP"),
  afxdpPlugins: image(
    "",
    "the plugins of afxdp-plugins-for-kubernetes, which only provider upstream of the AfxdpOperatorConfig needs",
  ),
  webhook: image(`${own}webhook`, "the admission webhook"),
  ovnOffload: image(`${own}ovn-offload`, "the service that runs OVN on SmartNICs", { hasPullPolicy: true }),
  eveBridge: image(`${own}eve-bridge`, "the installer of eve-bridge", { hasPullPolicy: true }),
  sriovDevicePlugin: image(`${plumbing}sriov-network-device-plugin:v3.11.0`, "the SR-IOV device plugin"),
  sriovCni: image(`${plumbing}sriov-cni:v2.10.0`, "the sriov CNI plugin"),
  ibSriovCni: image(`${plumbing}ib-sriov-cni:v1.3.0`, "the ib-sriov CNI plugin"),
  ovsCni: image(`${plumbing}ovs-cni-plugin:v0.39.0`, "the ovs CNI plugin", { extra: optional }),
  rdmaCni: image(`${plumbing}rdma-cni:v1.5.0`, "the rdma CNI plugin", { extra: optional }),
  // Its releases are tagged without "v".
  acceleratedBridgeCni: image(
    `${plumbing}accelerated-bridge-cni:0.6.0`,
    "the accelerated-bridge CNI plugin, for BridgeNetworks",
    {
      extra: optional,
    },
  ),
  resourcesInjector: image(`${plumbing}network-resources-injector:v1.9.0`, "the network resources injector"),
  metricsExporter: image(`${plumbing}sriov-network-metrics-exporter:v1.1.0`, "the metrics exporter"),
  metricsExporterKubeRbacProxy: image(
    "quay.io/brancz/kube-rbac-proxy:v0.19.0",
    "kube-rbac-proxy, in front of the metrics exporter",
  ),
};
