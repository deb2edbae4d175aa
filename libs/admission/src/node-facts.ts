// SPDX-License-Identifier: Apache-2.0
/**
 * NodeFacts and StateFacts are what admission keeps of a node and its SriovNetworkNodeState. The VF rows of 1,000 nodes
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
import { statusPfs, withOwnership } from "@switchyard/policy";
import { createInterner } from "./interner.ts";

/** A node and the report of its config daemon. */
export interface NodeFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Undefined while the node has no SriovNetworkNodeState. */
  readonly state?: StateFacts | undefined;
}

/** A reduced node state. Equal parts of different nodes are the same object. */
export interface StateFacts {
  /** The status as plan() needs it, with the word "some" in place of names and addresses that differ from node to node. */
  readonly status: SriovNetworkNodeStateStatus;
  /** The same PFs in the same order, with only the fields that a nicSelector can match. Empty before the first report. */
  readonly layout: readonly InterfaceStatus[];
  readonly syncStatus: string;
}

/** Returns a function that reduces node states. Its results share their equal parts. */
export function createStateReader(): (state: Pick<SriovNetworkNodeState, "spec" | "status">) => StateFacts {
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
    return { status: reduced, layout, syncStatus };
  };
}

/** Replaces names and addresses by the word "some": plan() looks only at whether they exist. */
function withoutIdentity(vf: VfStatus): VfStatus {
  const { mac: _mac, vendor: _vendor, deviceID: _device, assigned: _pod, Vlan: _vlan, ...kept } = vf;
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
