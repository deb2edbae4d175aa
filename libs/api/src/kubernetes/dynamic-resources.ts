// SPDX-License-Identifier: Apache-2.0
/**
 * Kinds of dynamic resource allocation (resource.k8s.io/v1), which is available since Kubernetes 1.34, restricted to the fields that
 * Switchyard writes. What drivers and users write is read by parsers, as unknown.
 */
import type { ObjectMeta, ResourceType } from "./metadata.ts";

/** API resource of ResourceClaims. */
export const resourceClaims = {
  group: "resource.k8s.io",
  version: "v1",
  kind: "ResourceClaim",
  plural: "resourceclaims",
  namespaced: true,
} as const satisfies ResourceType;

/** API resource of ResourceSlices. */
export const resourceSlices = {
  group: "resource.k8s.io",
  version: "v1",
  kind: "ResourceSlice",
  plural: "resourceslices",
  namespaced: false,
} as const satisfies ResourceType;

/** API resource of DeviceClasses. */
export const deviceClasses = {
  group: "resource.k8s.io",
  version: "v1",
  kind: "DeviceClass",
  plural: "deviceclasses",
  namespaced: false,
} as const satisfies ResourceType;

/** Devices of a node that a driver offers. */
export interface ResourceSlice {
  readonly apiVersion: "resource.k8s.io/v1";
  readonly kind: "ResourceSlice";
  readonly metadata: ObjectMeta;
  readonly spec: ResourceSliceSpec;
}

/** A part of a pool of devices. */
export interface ResourceSliceSpec {
  readonly driver: string;
  readonly nodeName: string;
  readonly pool: DevicePool;
  /** At most 128, or 64 if one of them has a taint. */
  readonly devices: readonly Device[];
}

/** The pool of a ResourceSlice. The scheduler uses a pool only if it has all slices of the newest generation. */
export interface DevicePool {
  readonly name: string;
  readonly generation: number;
  readonly resourceSliceCount: number;
}

/** A device that claims can have. */
export interface Device {
  /** A DNS label. */
  readonly name: string;
  /** By qualified name; at most 32. */
  readonly attributes: Readonly<Record<string, DeviceAttribute>>;
  /** At most 16. */
  readonly taints?: readonly DeviceTaint[];
}

/** A value that claims can select devices by. A string has at most 64 characters. */
export type DeviceAttribute = { readonly string: string } | { readonly int: number } | { readonly bool: boolean };

/** Keeps claims without a toleration away from a device. */
export interface DeviceTaint {
  /** A qualified name. */
  readonly key: string;
  /** A label value. */
  readonly value?: string;
  readonly effect: "NoSchedule" | "NoExecute" | "None";
}

/** A set of devices that users request by name. */
export interface DeviceClass {
  readonly apiVersion: "resource.k8s.io/v1";
  readonly kind: "DeviceClass";
  readonly metadata: ObjectMeta;
  readonly spec: DeviceClassSpec;
}

/** The devices of a class. */
export interface DeviceClassSpec {
  /** CEL expressions that are all true for the devices. */
  readonly selectors: readonly { readonly cel: { readonly expression: string } }[];
  /** Resource by which pods can request the devices in `resources.limits`. */
  readonly extendedResourceName?: string;
}
