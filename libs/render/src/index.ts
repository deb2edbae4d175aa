// SPDX-License-Identifier: Apache-2.0
/**
 * Pure functions that render what Switchyard writes to a cluster: NetworkAttachmentDefinitions, configurations of the
 * device plugin, and the objects of all components that the operator deploys.
 */
export {
  networkProblems,
  renderNetwork,
  targetNamespace,
  type Network,
  type NetworkContext,
} from "./networks/render-network.ts";
export { bpfmanDevices, isDeviceOnHost, mayReturn, type BpfmanDevice } from "./bpfman/bpfman-devices.ts";
export { bpfmanMark, bpfmanObjectName, renderBpfmanObject, type BpfmanKind } from "./bpfman/bpfman-objects.ts";
export { linuxBridgesOf } from "./networks/candidate-bridges.ts";
export { unfilteredBridgePolicies, unfilteredBridgesOf, vlanFilteringProblems } from "./networks/vlan-filtering.ts";
export { unattachableDevices } from "./networks/afxdp-network-problems.ts";
export { poolDevicesOf } from "./networks/pool-devices.ts";
export type { NetworkProblem } from "./networks/network-texts.ts";
export type { JsonProblem } from "./networks/parse-json.ts";
export {
  devicePluginConfigMap,
  formatDevicePluginConfig,
  type DevicePluginConfig,
  type DevicePluginProblem,
  type DevicePluginResource,
  type DeviceSelectors,
  type RenderedDevicePluginConfig,
} from "./device-plugin/device-plugin-config.ts";
export { nodeDevicePluginConfig } from "./device-plugin/node-device-plugin-config.ts";
export {
  policyDevicePluginConfig,
  type NicModel,
  type PolicyDevicePluginSources,
} from "./device-plugin/policy-device-plugin-config.ts";
export { formatAfxdpPluginsConfig, type AfxdpPluginsConfig } from "./afxdp-plugins/afxdp-plugins-config.ts";
export {
  nodeAfxdpPluginsConfig,
  type AfxdpPluginsDevice,
  type AfxdpPluginsFacts,
  type AfxdpPluginsProblem,
  type RenderedAfxdpPlugins,
} from "./afxdp-plugins/node-afxdp-plugins-config.ts";
export {
  componentImageVariables,
  type AdmissionServerSettings,
  type CertificateSource,
  type ClusterType,
  type ComponentImageName,
  type ComponentImages,
  type ComponentSettings,
  type MetricsExporterSettings,
  type PrometheusOperatorSettings,
  type TlsSettings,
} from "./components/component-settings.ts";
export type { Manifest, ManifestMetadata } from "./components/objects/manifest.ts";
export type {
  ComponentName,
  ComponentProblem,
  RenderedComponent,
  RenderedComponents,
} from "./components/rendered-components.ts";
export { afxdpComponents } from "./components/rendered-components.ts";
export { componentInventory, type InventoryItem } from "./components/component-inventory.ts";
export { componentKinds, resourceTypeOf } from "./components/objects/component-kinds.ts";
export { isControlPlaneExternal, isOfControlPlane } from "./components/control-plane.ts";
export { grantsNodeRights } from "./components/rights/node-identity.ts";
export { hasOwnSecret } from "./components/servers/own-secret.ts";
export { operatorIdentity } from "./components/rights/operator-identity.ts";
export { isSystemdMode, systemdModeConfigName, systemdModeMachineConfig } from "./components/systemd-mode.ts";
export { componentSpec, renderComponents, type OperatorConfigs } from "./components/render-components.ts";
export { isOfOvnOffload, ovnOffloadMark, ovnOffloadSelector } from "./ovn-offload/offload-labels.ts";
export { type OffloadDropIn, type OffloadFile, type OffloadUnit } from "./ovn-offload/offload-file.ts";
export { managementPortName } from "./ovn-offload/management-port.ts";
export { bridgeRemovalUnit, ovnOffloadDropIn, ovnOffloadFiles, ovnOffloadUnits } from "./ovn-offload/offload-units.ts";
export {
  ovnOffloadMachineConfig,
  ovnOffloadMachineConfigName,
  type MachineConfigManifest,
} from "./ovn-offload/offload-machine-config.ts";
export {
  ovnOffloadPolicy,
  ovnOffloadPolicyName,
  type OffloadPolicy,
  type OffloadPolicyOptions,
} from "./ovn-offload/offload-policy.ts";
export {
  envOverridesPatch,
  managementPortEntry,
  managementPortsPatch,
  type ManagementPortNodes,
  type MapPatch,
} from "./ovn-offload/management-port-maps.ts";
export {
  managementResource,
  managementResourceKey,
  offloadHostLabels,
  ownKeyAnnotation,
  type ManagementResource,
  type OffloadHostLabels,
} from "./ovn-offload/hardware-offload-config.ts";
export { withoutManagementVf } from "./device-plugin/without-management-vf.ts";
export { ovnHostLabels, plainHostLabel, proposalHostLabel, type HostLabels } from "./ovn-offload/host-labels.ts";
export {
  dnsEligibleLabel,
  dnsPlacement,
  dnsPlacementBefore,
  isDnsEligible,
  restoredDnsPlacement,
  type DnsPatch,
  type DnsPlacement,
  type DnsPlacementSource,
} from "./ovn-offload/dns-placement.ts";
export {
  managementPortForm,
  offloadConfigMaps,
  plainManagementPorts,
  type ConfigMapName,
} from "./ovn-offload/offload-config-maps.ts";
export { ovnOffloadIdentity, type OvnOffloadIdentity } from "./ovn-offload/rights/ovn-offload-identity.ts";
export type { OvnOffloadIdentitySettings } from "./ovn-offload/rights/identity-settings.ts";
export { defaultHostLabel } from "./ovn-offload/hardware-offload-config.ts";
