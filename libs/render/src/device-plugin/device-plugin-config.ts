// SPDX-License-Identifier: Apache-2.0
/**
 * Configuration of sriov-network-device-plugin, in the shape that its version of November 2022 reads, as later ones do
 * (sriov-operator.md C, cnis.md 3.1, 3.5): one selector for each resource, whose fields must all match.
 * Usage: `formatDevicePluginConfig(config)` is the text of the plugin's file.
 */

export interface DevicePluginConfig {
  /** In the order in which the plugin hands out devices. null, for none, is upstream's. */
  readonly resourceList: readonly DevicePluginResource[] | null;
}

/** Devices that pods request by one name. Keys are written in the order that they have here. */
export interface DevicePluginResource {
  /** Without prefix. */
  readonly resourceName: string;
  readonly excludeTopology?: true;
  readonly selectors: DeviceSelectors;
  /** Upstream's text has it; it means nothing. */
  readonly SelectorObj?: null;
}

/** What a device must be, in all that is given; of a list, any. The plugin does not care for the case of keys. */
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

/** What a configuration cannot say of a resource. The resource is there nevertheless, unless the code says otherwise. */
export interface DevicePluginProblem {
  readonly code:
    /** Policies for one resource select by different fields: the plugin takes only VFs that all of them fit. */
    | "mixed-selectors"
    /** Its VFs shall be handed out in different ways: the first group's way holds for all. */
    | "mixed-settings"
    /** The plugin refuses vDPA devices with RDMA: RDMA is left out. */
    | "rdma-with-vdpa"
    /** The plugin refuses the name, and everything with it: left out. */
    | "bad-name"
    /** Some of its VFs are given by a range that is none: these are left out. */
    | "bad-vf-range"
    /** A policy's netFilter means nothing before the node's NICs are known: the policy is left out. */
    | "no-interfaces";
  readonly resourceName: string;
  /** In a sentence. */
  readonly message: string;
}

/** A configuration and what it cannot say. */
export interface RenderedDevicePluginConfig {
  readonly config: DevicePluginConfig;
  readonly problems: readonly DevicePluginProblem[];
}

/**
 * The problem with a name over which the plugin ends, and with it all other resources; undefined where there is none. The
 * plugin of November 2022 refuses "-" as well; those that are deployed today take it, as upstream's webhook does.
 */
export function resourceNameProblem(resourceName: string): DevicePluginProblem | undefined {
  if (/^[a-zA-Z0-9_-]+$/.test(resourceName)) return undefined;
  const message = `the device plugin takes letters, digits, "-" and "_" only, not "${resourceName}"`;
  return { code: "bad-name", resourceName, message };
}

/** The problem of asking for both; the plugin ends over that, too, so the caller leaves RDMA out. */
export function rdmaWithVdpa(resourceName: string): DevicePluginProblem {
  const message = "a vDPA device cannot be handed out with its RDMA device";
  return { code: "rdma-with-vdpa", resourceName, message };
}

/** Compact JSON, with the escapes that Go's encoder makes: the same configuration is always the same bytes. */
export function formatDevicePluginConfig(config: DevicePluginConfig): string {
  return JSON.stringify(config).replace(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** Upstream's ConfigMap: the text of every node's configuration (formatDevicePluginConfig) under the node's name. */
export function devicePluginConfigMap(namespace: string, texts: ReadonlyMap<string, string>) {
  const byNode = [...texts].sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "device-plugin-config", namespace },
    data: Object.fromEntries(byNode),
  } as const;
}
