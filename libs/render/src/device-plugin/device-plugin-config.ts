// SPDX-License-Identifier: Apache-2.0
/**
 * DevicePluginConfig is the configuration of sriov-network-device-plugin (sriov-operator.md C, cnis.md 3.1, 3.5). It
 * has one selector per resource. The format is that of the release of November 2022, which later releases read, too.
 * Usage: `const text = formatDevicePluginConfig(config);`
 */

/** The content of the plugin's configuration file. */
export interface DevicePluginConfig {
  /** In the order in which the plugin assigns devices to resources. Upstream writes null for an empty list. */
  readonly resourceList: readonly DevicePluginResource[] | null;
}

/** The devices of one resource. Keys are written in the order of the fields here. */
export interface DevicePluginResource {
  /** Name of the resource, without prefix. */
  readonly resourceName: string;
  readonly excludeTopology?: true;
  readonly selectors: DeviceSelectors;
  /** Written by upstream, without any effect. */
  readonly SelectorObj?: null;
}

/**
 * Selects the devices that match all fields. A list matches if one of its entries does. The plugin ignores the case of
 * keys.
 */
export interface DeviceSelectors {
  readonly vendors?: readonly string[];
  readonly devices?: readonly string[];
  readonly pciAddresses?: readonly string[];
  readonly pfNames?: readonly string[];
  readonly rootDevices?: readonly string[];
  readonly linkTypes?: readonly string[];
  readonly IsRdma: boolean;
  readonly NeedVhostNet: boolean;
  readonly vdpaType?: "virtio" | "vhost";
}

/**
 * A property of a resource that the configuration cannot express. The resource is configured unless the code says
 * otherwise.
 */
export interface DevicePluginProblem {
  readonly code:
    /** Policies for the resource select by different fields. The plugin only finds VFs that match all of the fields. */
    | "mixed-selectors"
    /** The settings of the resource's VF groups differ. Those of the policy with the highest priority apply to all VFs. */
    | "mixed-settings"
    /** The plugin does not support vDPA devices with RDMA. isRdma is omitted. */
    | "rdma-with-vdpa"
    /** The plugin rejects the name and would exit. The resource is omitted. */
    | "bad-name"
    /** The range of a VF group is invalid. The group is omitted. */
    | "bad-vf-range"
    /** A policy has a netFilter, and the node has not reported its NICs yet. The policy is omitted. */
    | "no-interfaces";
  readonly resourceName: string;
  /** What is wrong. Does not name the resource, which callers put before it. */
  readonly message: string;
}

/** A configuration and its problems. */
export interface RenderedDevicePluginConfig {
  readonly config: DevicePluginConfig;
  readonly problems: readonly DevicePluginProblem[];
}

/**
 * Returns a problem if the plugin rejects the name; undefined otherwise. The plugin exits if one name is invalid, so
 * that no resource would be available. The release of November 2022 also rejects "-"; current releases and upstream's
 * webhook accept it.
 */
export function resourceNameProblem(resourceName: string): DevicePluginProblem | undefined {
  if (/^[a-zA-Z0-9_-]+$/.test(resourceName)) return undefined;
  const message = 'the device plugin only accepts letters, digits, "-" and "_" in resource names';
  return { code: "bad-name", resourceName, message };
}

/**
 * Returns the problem of a resource with both isRdma and vdpaType. The plugin would exit, so the caller omits isRdma.
 */
export function rdmaWithVdpa(resourceName: string): DevicePluginProblem {
  const message = "isRdma is ignored, because the device plugin does not support it together with vdpaType";
  return { code: "rdma-with-vdpa", resourceName, message };
}

/**
 * Formats the configuration as compact JSON with the escapes of Go's encoder. Equal configurations result in equal
 * bytes.
 */
export function formatDevicePluginConfig(config: DevicePluginConfig): string {
  return JSON.stringify(config).replace(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** Returns upstream's ConfigMap. It has the result of formatDevicePluginConfig for each node under the node's name. */
export function devicePluginConfigMap(namespace: string, texts: ReadonlyMap<string, string>) {
  const byNode = [...texts].sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "device-plugin-config", namespace },
    data: Object.fromEntries(byNode),
  } as const;
}
