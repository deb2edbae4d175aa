// SPDX-License-Identifier: Apache-2.0
/**
 * DeviceClaims resolves the devices that a pod uses from ResourceClaims, ResourceSlices and node states. Reflectors fill its
 * stores `claims` and `slices`.
 */
import { createInterner, type PodOnNode, type ReducedNodeState } from "@switchyard/admission";
import { resourceClaims, resourceSlices, type InterfaceStatus } from "@switchyard/api";
import { ObjectStore, type Cache, type KubeObject } from "@switchyard/kube";
import {
  createDeviceLookup,
  podUse,
  readAllocation,
  readSlice,
  toPfAddresses,
  type AllocatedDevice,
  type DeviceSlice,
  type PfAddresses,
  type PodUse,
} from "@switchyard/policy";

export interface DeviceClaims {
  readonly claims: ObjectStore<KubeObject, readonly AllocatedDevice[]>;
  readonly slices: ObjectStore<KubeObject, DeviceSlice | null>;
  /** If the API server does not serve claims, no devices are allocated by them. */
  readonly useOf: (pod: PodOnNode) => PodUse;
}

export function createDeviceClaims(states: Pick<Cache<ReducedNodeState>, "get">): DeviceClaims {
  // Equal nodes publish equal devices.
  const internDevices = createInterner<DeviceSlice["devices"]>();
  const claims = new ObjectStore({ type: resourceClaims, project: readAllocation });
  const slices = new ObjectStore({
    type: resourceSlices,
    project(object: KubeObject): DeviceSlice | null {
      const slice = readSlice(object);
      return slice === undefined ? null : { ...slice, devices: internDevices(slice.devices) };
    },
  });

  const addresses = new WeakMap<readonly InterfaceStatus[], readonly PfAddresses[]>();
  function pfsOf(node: string): readonly PfAddresses[] {
    const interfaces = states.get(node)?.status.interfaces ?? [];
    const pfs = addresses.get(interfaces) ?? toPfAddresses(interfaces);
    addresses.set(interfaces, pfs);
    return pfs;
  }

  let factsFor: ReturnType<typeof createDeviceLookup> | undefined;
  slices.subscribe(() => {
    factsFor = undefined;
  });

  return {
    claims,
    slices,
    useOf(pod) {
      factsFor ??= createDeviceLookup({
        slices: slices.list().filter((slice) => slice !== null),
        devicesOf: (namespace, claim) => (claims.served ? claims.get(`${namespace}/${claim}`) : []),
        pfsOf,
      });
      return podUse(pod.devices, factsFor(pod));
    },
  };
}
