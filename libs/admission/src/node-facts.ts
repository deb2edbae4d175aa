// SPDX-License-Identifier: Apache-2.0
/**
 * What admission keeps of a node. The VF rows of 1,000 nodes are 100 MB of JSON; without what differs from node to node
 * and decides nothing (addresses, names), and with equal parts held once, they are a few.
 * Usage: `const toStateFacts = createStateReader(); const state = toStateFacts(nodeState);`
 */
import type {
  Bridges,
  InterfaceStatus,
  SriovNetworkNodeState,
  SriovNetworkNodeStateStatus,
  SystemSettings,
  VfStatus,
} from "@switchyard/api";
import { statusPfs, withOwnership } from "@switchyard/policy";
import { createInterner } from "./intern.ts";

/** A node, and what its daemon reported. */
export interface NodeFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Absent while the node has no SriovNetworkNodeState. */
  readonly state?: StateFacts | undefined;
}

/** A node state, reduced. Equal parts of different nodes are the same object. */
export interface StateFacts {
  /** As plan() needs it, with words in place of names and addresses that differ from node to node. */
  readonly status: SriovNetworkNodeStateStatus;
  /** PFs in the same order, with what a nicSelector can ask about and nothing else. Empty before the first report. */
  readonly layout: readonly InterfaceStatus[];
  readonly syncStatus: string;
}

/** A reader whose results share their equal parts. */
export function createStateReader(): (state: Pick<SriovNetworkNodeState, "spec" | "status">) => StateFacts {
  const oneVf = createInterner<VfStatus>();
  const oneVfList = createInterner<readonly VfStatus[]>();
  const onePf = createInterner<InterfaceStatus>();
  const onePfList = createInterner<readonly InterfaceStatus[]>();
  const oneBridges = createInterner<Bridges>();
  const oneSystem = createInterner<SystemSettings>();
  const oneStatus = createInterner<SriovNetworkNodeStateStatus>();

  function readPf(pf: InterfaceStatus): InterfaceStatus {
    const { mac: _mac, linkSpeed: _speed, Vfs, ...kept } = pf;
    if (Vfs === undefined) return onePf(kept);
    return onePf({ ...kept, Vfs: oneVfList(Vfs.map((vf) => oneVf(withoutIdentity(vf)))) });
  }

  return function toStateFacts(state) {
    const status = withOwnership(state);
    const { bridges, system, syncStatus = "" } = status;
    const interfaces = statusPfs(status);
    const layout = onePfList(interfaces.map((pf) => onePf(identityOf(pf))));
    const reduced = oneStatus({
      interfaces: onePfList(interfaces.map(readPf)),
      ...(bridges === undefined ? {} : { bridges: oneBridges(bridges) }),
      ...(system === undefined ? {} : { system: oneSystem(system) }),
    });
    return { status: reduced, layout, syncStatus };
  };
}

/** Names and addresses become the word "some": plan() asks only whether they are there. */
function withoutIdentity(vf: VfStatus): VfStatus {
  const { mac: _mac, vendor: _vendor, deviceID: _device, assigned: _pod, Vlan: _vlan, ...kept } = vf;
  const { name, adminMac, representorName, guid } = vf;
  return {
    ...kept,
    ...(name && { name: "some" }),
    ...(adminMac && { adminMac: /[1-9a-fA-F]/.test(adminMac) ? "some" : adminMac }), // zeros: still to be set
    ...(representorName && { representorName: "some" }),
    ...(guid && { guid: /[1-9a-fA-F]/.test(guid) ? "some" : guid }), // a zero GUID is one that is still to be set
  };
}

function identityOf(nic: InterfaceStatus): InterfaceStatus {
  const { pciAddress, name, altNames, vendor, deviceID, netFilter, totalvfs, owned, recordedNames } = nic;
  return {
    pciAddress,
    ...(name === undefined ? {} : { name }),
    ...(altNames === undefined ? {} : { altNames }),
    ...(vendor === undefined ? {} : { vendor }),
    ...(deviceID === undefined ? {} : { deviceID }),
    ...(netFilter === undefined ? {} : { netFilter }),
    ...(totalvfs === undefined ? {} : { totalvfs }),
    ...(owned === undefined ? {} : { owned }),
    ...(recordedNames === undefined ? {} : { recordedNames }),
  };
}
