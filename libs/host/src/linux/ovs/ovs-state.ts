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
  port,
  type BridgeRow,
  type InterfaceRow,
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

/** Returns the interfaces of the ports of a bridge, without the one of the bridge itself. */
function interfacesOf(row: BridgeRow, cache: TableCache): readonly InterfaceRow[] {
  return [...row.ports].flatMap((portId) =>
    [...(cache.rows(port).get(portId)?.interfaces ?? [])].flatMap((interfaceId) => {
      const found = cache.rows(iface).get(interfaceId);
      return found === undefined || found.name === row.name ? [] : [found];
    }),
  );
}

function toBridge(row: BridgeRow, cache: TableCache): ObservedOvsBridge {
  const ports = interfacesOf(row, cache).map(toPort).sort(byName);
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

function toPort(row: InterfaceRow): ObservedOvsPort {
  const pciAddress = isOwned(row) ? row.external_ids.get(pfKey) : undefined;
  return {
    name: row.name,
    type: row.type,
    isMissing: row.ofport === -1,
    ...defined({
      uplink: pciAddress === undefined ? undefined : { pciAddress, settings: interfaceSettings(row) },
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
