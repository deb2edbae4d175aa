// SPDX-License-Identifier: Apache-2.0
/**
 * Pure functions that render what Switchyard writes to a cluster: NetworkAttachmentDefinitions, configurations of the
 * device plugin, and the objects of all components that the operator deploys.
 */
export { networkProblems, renderNetwork, targetNamespace, type NetworkContext } from "./networks/render-network.ts";
export {
  networkRef,
  networkTypes,
  parseNetworkRef,
  type Network,
  type NetworkKind,
  type NetworkName,
} from "./networks/network-ref.ts";
export { bpfmanDevices, isDeviceOnHost, mayReturn, type BpfmanDevice } from "./bpfman/bpfman-devices.ts";
export { bpfmanMark, bpfmanObjectName, renderBpfmanObject, type BpfmanKind } from "./bpfman/bpfman-objects.ts";
export { linuxBridgesOf, poolDevicesOf } from "./networks/node-devices.ts";
export { unfilteredBridgePolicies, unfilteredBridgesOf, vlanFilteringProblems } from "./networks/vlan-filtering.ts";
export { unattachableDevices } from "./networks/afxdp-network-problems.ts";
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
export { addressOfDevice, deviceNameOf, renderDeviceClasses, type DeviceClassesInput } from "./dra/device-names.ts";
export { renderPairTemplates, type DevicesOfClass, type PairTemplate } from "./dra/pair-templates.ts";
export { renderResourceSlices, type ResourceSlicesInput, type WithheldFromClaims } from "./dra/resource-slices.ts";
export { formatAfxdpPluginsConfig, type AfxdpPluginsConfig } from "./afxdp-plugins/afxdp-plugins-config.ts";
export {
  nodeAfxdpPluginsConfig,
  type AfxdpPluginsDevice,
  type AfxdpPluginsSettings,
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
export type { Manifest, ManifestMetadata } from "./components/objects/kube-objects.ts";
export type {
  ComponentName,
  ComponentProblem,
  RenderedComponent,
  RenderedComponents,
} from "./components/rendered-components.ts";
export { afxdpComponents } from "./components/rendered-components.ts";
export { componentInventory, type InventoryItem } from "./components/component-inventory.ts";
export { componentKinds, resourceTypeOf } from "./components/objects/component-kinds.ts";
export { isControlPlaneExternal, isOfControlPlane } from "./components/servers/admission-server.ts";
export { placementProblems, runsOnlyWithVfs } from "./components/placement.ts";
export { grantsNodeRights } from "./components/rights/node-identity.ts";
export {
  hasOwnSecret,
  injectorConfigKey,
  injectorConfigName,
} from "./components/servers/network-resources-injector.ts";
export { operatorIdentity } from "./components/rights/operator-identity.ts";
export { isSystemdMode, systemdModeConfigName, systemdModeMachineConfig } from "./components/node/config-daemon.ts";
export { componentSpec, renderComponents, type OperatorConfigs } from "./components/render-components.ts";
export {
  isOfOvnOffload,
  ovnOffloadMark,
  ovnOffloadSelector,
  ovnOffloadPolicy,
  ovnOffloadPolicyName,
  type OffloadPolicy,
  type OffloadPolicyOptions,
} from "./ovn-offload/offload-policy.ts";
export {
  type OffloadDropIn,
  type OffloadFile,
  type OffloadUnit,
  managementPortName,
  bridgeRemovalUnit,
  ovnOffloadDropIn,
  ovnOffloadFiles,
  ovnOffloadUnits,
} from "./ovn-offload/offload-units.ts";
export {
  ovnOffloadMachineConfig,
  ovnOffloadMachineConfigName,
  type MachineConfigManifest,
} from "./ovn-offload/offload-machine-config.ts";
export {
  envOverridesPatch,
  managementPortEntry,
  managementPortsPatch,
  type ManagementPortNodes,
  type MapPatch,
  managementPortForm,
  offloadConfigMaps,
  plainManagementPorts,
  type ConfigMapName,
} from "./ovn-offload/management-port-maps.ts";
export {
  managementResource,
  managementResourceKey,
  offloadHostLabels,
  ownKeyAnnotation,
  managementPortCount,
  type ManagementPortCount,
  type ManagementResource,
  type OffloadHostLabels,
  ovnHostLabels,
  plainHostLabel,
  proposalHostLabel,
  type HostLabels,
  defaultHostLabel,
} from "./ovn-offload/hardware-offload-config.ts";
export { parseAdmissionPlacement, type AdmissionPlacement } from "./components/servers/admission-placement.ts";
export {
  defaultOffloadNetwork,
  offloadNetworks,
  presentOffloadNetwork,
  type OffloadNetworkName,
  type OffloadNetworkWrite,
  type PresentOffloadNetwork,
} from "./ovn-offload/offload-network.ts";
export { withoutManagementVf } from "./device-plugin/without-management-vf.ts";
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
export { ovnOffloadIdentity, type OvnOffloadIdentity } from "./ovn-offload/rights/ovn-offload-identity.ts";
export type { OvnOffloadIdentitySettings } from "./ovn-offload/rights/offload-rules.ts";
export {
  cdiDeviceOf,
  cdiDirectory,
  claimSpecFile,
  isClaimSpecFile,
  parseClaimSpec,
  renderClaimSpec,
  type ClaimDevice,
  type ClaimRecord,
  type ClaimSpec,
  type ContainerEdits,
} from "./dra/claim-spec.ts";
