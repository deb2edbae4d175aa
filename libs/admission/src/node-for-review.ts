// SPDX-License-Identifier: Apache-2.0
/**
 * NodeForReview and ReducedNodeState are what admission keeps of a node and its SriovNetworkNodeState. The VF rows of 1,000 nodes
 * are 100 MB of JSON. Names and addresses that differ from node to node and do not matter are dropped, and equal parts are
 * kept once; a few megabytes remain.
 * Usage: `const readState = createStateReader(); const facts = readState(nodeState);`
 */
import {
  defined,
  type Bridges,
  type InterfaceStatus,
  type OpenVSwitchStatus,
  type SriovNetworkNodeState,
  type SriovNetworkNodeStateStatus,
  type SystemStatus,
  type VfStatus,
} from "@switchyard/api";
import { at, readPodDevices, statusPfs, withOwnership, type PlacedPod, type PodDevices } from "@switchyard/policy";
import { createHash } from "node:crypto";
import { readHolders, type NodeHolders } from "./held-vfs.ts";

/** A node and the report of its config daemon. */
export interface NodeForReview {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Undefined while the node has no SriovNetworkNodeState. */
  readonly state?: ReducedNodeState | undefined;
}

/** A reduced node state. Equal parts of different nodes are the same object. */
export interface ReducedNodeState {
  /** The status as plan() needs it, with the word "some" in place of names and addresses that differ from node to node. */
  readonly status: SriovNetworkNodeStateStatus;
  /** The same PFs in the same order, with only the fields that a nicSelector can match. Empty before the first report. */
  readonly layout: readonly InterfaceStatus[];
  readonly syncStatus: string;
  /** The pods that have the VFs. Absent if they are not known. Differs from node to node. */
  readonly holders?: NodeHolders;
}

/**
 * An interner keeps one copy of equal values. The nodes of a fleet are much alike: 1,000 nodes have only a few different
 * statuses, and a result that was computed for one of them holds for all nodes that share it.
 * Returns the first value whose JSON was equal, with the keys in the same order. Values must not change.
 */
type Interner<Value extends object> = (value: Value) => Value;

/** Returns a function that reduces node states. Its results share their equal parts. */
export function createStateReader(): (state: Pick<SriovNetworkNodeState, "spec" | "status">) => ReducedNodeState {
  const oneVf = createInterner<VfStatus>();
  const oneVfList = createInterner<readonly VfStatus[]>();
  const onePf = createInterner<InterfaceStatus>();
  const onePfList = createInterner<readonly InterfaceStatus[]>();
  const oneBridges = createInterner<Bridges>();
  const oneOvs = createInterner<OpenVSwitchStatus>();
  const oneSystem = createInterner<SystemStatus>();
  const oneStatus = createInterner<SriovNetworkNodeStateStatus>();

  function readPf(pf: InterfaceStatus): InterfaceStatus {
    const { mac: _mac, linkSpeed: _speed, Vfs, ...kept } = pf;
    if (Vfs === undefined) return onePf(kept);
    return onePf({ ...kept, Vfs: oneVfList(Vfs.map((vf) => oneVf(withoutIdentity(vf)))) });
  }

  return (state) => {
    const status = withOwnership(state);
    const { bridges, openVSwitch, system, syncStatus = "" } = status;
    const interfaces = statusPfs(status);
    const layout = onePfList(interfaces.map((pf) => onePf(identityOf(pf))));
    const reduced = oneStatus({
      interfaces: onePfList(interfaces.map(readPf)),
      ...defined({
        bridges: bridges && oneBridges(bridges),
        openVSwitch: openVSwitch && oneOvs(openVSwitch),
        system: system && oneSystem(system),
      }),
    });
    return { status: reduced, layout, syncStatus, ...defined({ holders: readHolders({ ...status, interfaces }) }) };
  };
}

/** Replaces names and addresses by the word "some": plan() looks only at whether they exist. */
function withoutIdentity(vf: VfStatus): VfStatus {
  const { mac: _mac, vendor: _vendor, deviceID: _device, assigned: _pod, holder: _holder, Vlan: _vlan, ...kept } = vf;
  const { name, adminMac, representorName, rdmaDevice, guid, adminGuid } = vf;
  return {
    ...kept,
    ...(name && { name: "some" }),
    ...(adminMac && { adminMac: /[1-9a-fA-F]/.test(adminMac) ? "some" : adminMac }), // a zero MAC address is not set yet
    ...(representorName && { representorName: "some" }),
    ...(rdmaDevice && { rdmaDevice: "some" }),
    ...(adminGuid && { adminGuid: /[1-9a-fA-F]/.test(adminGuid) ? "some" : adminGuid }),
    ...(guid && { guid: /[1-9a-fA-F]/.test(guid) ? "some" : guid }), // a zero GUID is not set yet
  };
}

function identityOf(nic: InterfaceStatus): InterfaceStatus {
  const { pciAddress, name, altNames, vendor, deviceID, netFilter, totalvfs, bridge, owned, recordedNames } = nic;
  return {
    pciAddress,
    ...defined({ name, altNames, vendor, deviceID, netFilter, totalvfs, bridge, owned, recordedNames }),
  };
}

/** Returns an interner with weak references: a value that nothing else holds is forgotten. */
export function createInterner<Value extends object>(): Interner<Value> {
  const known = new Map<string, WeakRef<Value>>();
  const forget = new FinalizationRegistry<string>((key) => {
    if (known.get(key)?.deref() === undefined) known.delete(key);
  });
  return (value) => {
    const text = JSON.stringify(value);
    // The text of a large value would take more memory than the value itself, so its digest is the key.
    const key = text.length <= 64 ? text : createHash("sha256").update(text).digest("base64");
    const first = known.get(key)?.deref();
    if (first !== undefined) return first;
    known.set(key, new WeakRef(value));
    forget.register(value, key);
    return value;
  };
}

/** A pod on its node. */
export interface PodOnNode extends PlacedPod {
  /** At least one resource or claim. */
  readonly devices: PodDevices;
}

/**
 * readPod reads what admission's warnings need of a pod: its node and the devices that it names. podUse() of libs/policy resolves
 * the devices. Returns undefined for a pod that is not bound to a node, has ended, or names neither a resource with
 * `resourcePrefix` nor a ResourceClaim. `pod` is not trusted: it may be any JSON value.
 */
export function readPod(pod: unknown, resourcePrefix: string): PodOnNode | undefined {
  const node = at(at(pod, "spec"), "nodeName");
  const phase = at(at(pod, "status"), "phase");
  if (typeof node !== "string" || node === "" || phase === "Succeeded" || phase === "Failed") return undefined;
  const devices = readPodDevices(pod, resourcePrefix);
  if (devices.resources.length === 0 && devices.claims.length === 0) return undefined;
  const namespace = at(at(pod, "metadata"), "namespace");
  return { node, namespace: typeof namespace === "string" ? namespace : "", devices };
}
