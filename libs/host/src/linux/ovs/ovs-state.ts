// SPDX-License-Identifier: Apache-2.0
/** readOvsState converts the rows of the database to OvsState. It is a pure function. */
import { defined, type OvsBridgeConfig, type OvsInterfaceConfig } from "@switchyard/api";
import type { TableCache } from "@switchyard/ovsdb";
import { interfaceProblem } from "@switchyard/ovsdb/vswitch";
import type { ObservedOvsBridge, ObservedOvsPort, OvsState } from "../../ports/ovs.ts";
import {
  bridge,
  iface,
  isOwned,
  offloadMarkKey,
  openVswitch,
  ownEntries,
  pfKey,
  podNamespaceOf,
  port,
  type BridgeRow,
  type InterfaceRow,
  type PortRow,
} from "./ovs-rows.ts";

export function readOvsState(cache: TableCache): OvsState {
  const [root] = cache.rows(openVswitch).values();
  return {
    bridges: [...cache.rows(bridge).values()].map((row) => toBridge(row, cache)).sort(byName),
    hardwareOffload: {
      isOn: root?.other_config.get("hw-offload") === "true",
      ...defined({ mark: root?.external_ids.get(offloadMarkKey) }),
    },
  };
}

/** Returns the ports of a bridge, one for each interface, without the one of the bridge itself. */
function portsOf(row: BridgeRow, cache: TableCache): readonly ObservedOvsPort[] {
  return [...row.ports].flatMap((portId) => {
    const owner = cache.rows(port).get(portId);
    return [...(owner?.interfaces ?? [])].flatMap((interfaceId) => {
      const found = cache.rows(iface).get(interfaceId);
      return owner === undefined || found === undefined || found.name === row.name ? [] : [toPort(found, owner)];
    });
  });
}

function toBridge(row: BridgeRow, cache: TableCache): ObservedOvsBridge {
  const ports = portsOf(row, cache).toSorted(byName);
  return { name: row.name, isOwned: isOwned(row), settings: isOwned(row) ? bridgeSettings(row) : {}, ports };
}

function bridgeSettings(row: BridgeRow): OvsBridgeConfig {
  const failMode = failModes.find((mode) => mode === row.fail_mode);
  return {
    ...defined({
      datapathType: row.datapath_type === "" ? undefined : row.datapath_type,
      externalIDs: ownEntries(row, "external_ids"),
      otherConfig: ownEntries(row, "other_config"),
    }),
    ...(failMode && { failMode }),
  };
}

const failModes = ["secure", "standalone"] as const;

function toPort(row: InterfaceRow, owner: PortRow): ObservedOvsPort {
  const pciAddress = isOwned(row) ? row.external_ids.get(pfKey) : undefined;
  return {
    name: row.name,
    type: row.type,
    isMissing: row.ofport === -1,
    ...defined({
      uplink: pciAddress === undefined ? undefined : { pciAddress, settings: interfaceSettings(row) },
      podNamespace: podNamespaceOf(owner),
      error: interfaceProblem(row),
    }),
  };
}

function interfaceSettings(row: InterfaceRow): OvsInterfaceConfig {
  return defined({
    type: row.type === "" ? undefined : row.type,
    options: ownEntries(row, "options"),
    externalIDs: ownEntries(row, "external_ids"),
    otherConfig: ownEntries(row, "other_config"),
    mtuRequest: row.mtu_request,
  });
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
