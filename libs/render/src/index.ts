// SPDX-License-Identifier: Apache-2.0
export {
  networkProblems,
  renderNetwork,
  targetNamespace,
  type Network,
  type NetworkContext,
} from "./render-network.ts";
export { linuxBridgesOf } from "./candidate-bridges.ts";
export type { NetworkProblem, NetworkTexts } from "./network-texts.ts";
export { parseJsonObject, parseJsonObjects, type JsonProblem } from "./parse-json.ts";
export { formatJson, type Json, type JsonNumber, type JsonObject } from "./json.ts";
export {
  devicePluginConfigMap,
  formatDevicePluginConfig,
  type DevicePluginConfig,
  type DevicePluginProblem,
  type DevicePluginResource,
  type DeviceSelectors,
  type RenderedDevicePluginConfig,
} from "./device-plugin-config.ts";
export { nodeDevicePluginConfig } from "./node-device-plugin-config.ts";
export {
  policyDevicePluginConfig,
  type NicModel,
  type PolicyDevicePluginSources,
} from "./policy-device-plugin-config.ts";
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
export type { Manifest, ManifestMetadata } from "./components/manifest.ts";
export {
  componentNames,
  type ComponentName,
  type ComponentProblem,
  type RenderedComponent,
  type RenderedComponents,
} from "./components/rendered-components.ts";
export { componentInventory, type InventoryItem } from "./components/component-inventory.ts";
export { componentKinds, resourceTypeOf } from "./components/component-kinds.ts";
export { isControlPlaneExternal, isOfControlPlane } from "./components/control-plane.ts";
export { grantsNodeRights } from "./components/node-identity.ts";
export { hasOwnSecret } from "./components/own-secret.ts";
export { operatorIdentity } from "./components/operator-identity.ts";
export { renderComponents } from "./components/render-components.ts";
