// SPDX-License-Identifier: Apache-2.0
/**
 * Builds the transactions of the daemon from the rows that the cache has now. Each begins with checks that these rows are
 * still the same, so a concurrent change makes the transaction fail and be built again. Bridges and ports are changed in
 * place: a bridge that is created again would lose the representors of running pods.
 */
import type { OvsBridgeConfig, OvsInterfaceConfig } from "@switchyard/api";
import {
  assertRows,
  insertRow,
  isRow,
  mutate,
  mutateRows,
  updateRows,
  type TableCache,
  type WireOperation,
} from "@switchyard/ovsdb";
import { HostError, type HostOperation } from "../../calls/host-error.ts";
import type { OvsBridgeSettings } from "../../ports/ovs.ts";
import {
  bridge,
  iface,
  isOwned,
  mergeMaps,
  noMaps,
  offloadMarkKey,
  openVswitch,
  ownerMarks,
  pfKey,
  port,
  type BridgeRow,
  type Entries,
  type InterfaceRow,
  type PortRow,
} from "./ovs-rows.ts";

/** The rows, and the operation for which the transaction is built, which errors name. */
export interface OvsSource {
  readonly cache: TableCache;
  readonly at: HostOperation;
}

/** Creates or changes the bridge and its uplink. Throws HostError EEXIST and EBUSY. */
export function setBridgeOperations(source: OvsSource, wanted: OvsBridgeSettings): readonly WireOperation[] {
  const existing = findBridge(source.cache, wanted.name);
  if (existing !== undefined && !isOwned(existing)) {
    throw refusal(source, "EEXIST", "a bridge of this name exists, which Switchyard did not create");
  }
  const uplink = uplinkOperations(source, wanted, existing);
  return [...uplink.operations, ...bridgeOperations(source, wanted, existing, uplink.port)];
}

/** Throws HostError ENODEV, EPERM and EBUSY. */
export function addPortOperations(
  source: OvsSource,
  wanted: { readonly bridge: string; readonly port: string },
): readonly WireOperation[] {
  const target = findBridge(source.cache, wanted.bridge);
  if (target === undefined) throw refusal(source, "ENODEV", "no bridge of Open vSwitch has this name");
  checkOwned(target, source);
  const found = findPort(source.cache, wanted.port);
  if (found?.bridge._uuid === target._uuid) return [];
  const insertInto = (added: PortReference) =>
    mutateRows(bridge, [isRow(target._uuid)], [mutate(bridge, "ports", "insert", [added])]);
  if (found === undefined) {
    const external_ids = ownerMarks(noEntries, {});
    return [
      isUnchanged(target),
      insertRow(iface, { name: wanted.port, external_ids }, "added_interface"),
      insertRow(
        port,
        { name: wanted.port, interfaces: [{ namedUuid: "added_interface" }], external_ids },
        "added_port",
      ),
      insertInto({ namedUuid: "added_port" }),
    ];
  }
  requireReleased(source, found, target);
  return [isUnchanged(target), ...removalFrom(found), insertInto(found.port._uuid)];
}

/** Throws HostError EPERM if the bridge is foreign. */
export function removeBridgeOperations(source: OvsSource, name: string): readonly WireOperation[] {
  const row = findBridge(source.cache, name);
  if (row === undefined) return [];
  checkOwned(row, source);
  return [
    isUnchanged(row),
    mutateRows(openVswitch, [], [mutate(openVswitch, "bridges", "delete", [row._uuid])]), // its ports go with it
  ];
}

/** Throws HostError EPERM if the bridge is foreign. */
export function removePortsOperations(
  source: OvsSource,
  name: string,
  ports: readonly string[],
): readonly WireOperation[] {
  const { cache } = source;
  const row = findBridge(cache, name);
  const found = [...(row?.ports ?? [])].filter((uuid) => ports.includes(cache.rows(port).get(uuid)?.name ?? ""));
  if (row === undefined || found.length === 0) return [];
  checkOwned(row, source);
  return [isUnchanged(row), mutateRows(bridge, [isRow(row._uuid)], [mutate(bridge, "ports", "delete", found)])];
}

/** Only marks rows; changes no setting. */
export function adoptBridgeOperations({ cache }: OvsSource, wanted: OvsBridgeSettings): readonly WireOperation[] {
  const row = findBridge(cache, wanted.name);
  if (row === undefined || isOwned(row)) return [];
  const bridgeMarks = new Map([...row.external_ids, ...ownerMarks(bridgeEntries(wanted.settings), {})]);
  const operations = [isUnchanged(row), updateRows(bridge, [isRow(row._uuid)], { external_ids: bridgeMarks })];
  const uplink = findPort(cache, wanted.uplink.name);
  if (uplink?.bridge._uuid === row._uuid && !uplink.isBond) {
    const marks = ownerMarks(interfaceEntries(wanted.uplink.settings), { [pfKey]: wanted.uplink.pciAddress });
    const external_ids = new Map([...uplink.iface.external_ids, ...marks]);
    operations.push(updateRows(iface, [isRow(uplink.iface._uuid)], { external_ids }));
  }
  return operations;
}

export function hardwareOffloadOperations({ cache }: OvsSource, mark: string): readonly WireOperation[] {
  const [root] = cache.rows(openVswitch).values();
  if (root === undefined) return [];
  const { other_config, external_ids } = root;
  return [
    assertRows(openVswitch, [isRow(root._uuid)], [{ other_config, external_ids }]),
    updateRows(openVswitch, [isRow(root._uuid)], {
      other_config: new Map([...other_config, ["hw-offload", "true"]]),
      external_ids: new Map([...external_ids, [offloadMarkKey, mark]]),
    }),
  ];
}

export function findInterface(cache: TableCache, name: string): InterfaceRow | undefined {
  return [...cache.rows(iface).values()].find((row) => row.name === name);
}

function findBridge(cache: TableCache, name: string): BridgeRow | undefined {
  return [...cache.rows(bridge).values()].find((row) => row.name === name);
}

interface FoundPort {
  readonly bridge: BridgeRow;
  readonly port: PortRow;
  readonly iface: InterfaceRow;
  readonly isBond: boolean;
}

function findPort(cache: TableCache, name: string): FoundPort | undefined {
  const ifaceRow = findInterface(cache, name);
  if (ifaceRow === undefined) return undefined;
  for (const bridgeRow of cache.rows(bridge).values()) {
    for (const portId of bridgeRow.ports) {
      const portRow = cache.rows(port).get(portId);
      if (portRow?.interfaces.has(ifaceRow._uuid) !== true) continue;
      return { bridge: bridgeRow, port: portRow, iface: ifaceRow, isBond: portRow.interfaces.size > 1 };
    }
  }
  return undefined;
}

/** A row, or one that the same transaction inserts. */
type PortReference = string | { readonly namedUuid: string };

/** A reference to a port, and the operations that create or change it and remove it from other bridges. */
interface UplinkChange {
  readonly port: PortReference;
  readonly operations: readonly WireOperation[];
}

function uplinkOperations(
  source: OvsSource,
  { uplink }: OvsBridgeSettings,
  target: BridgeRow | undefined,
): UplinkChange {
  const { type = "", mtuRequest } = uplink.settings;
  const marks = { [pfKey]: uplink.pciAddress };
  const entries = interfaceEntries(uplink.settings);
  const found = findPort(source.cache, uplink.name);
  if (found === undefined) {
    const { external_ids, other_config, options } = mergeMaps(noMaps, entries, marks);
    const row = { name: uplink.name, type, external_ids, other_config, options, mtu_request: mtuRequest };
    return {
      port: { namedUuid: "uplink_port" },
      operations: [
        insertRow(iface, row, "uplink_interface"),
        insertRow(
          port,
          {
            name: uplink.name,
            interfaces: [{ namedUuid: "uplink_interface" }],
            external_ids: ownerMarks(noEntries, {}),
          },
          "uplink_port",
        ),
      ],
    };
  }

  requireReleased(source, found, target);
  const isElsewhere = found.bridge._uuid !== target?._uuid;
  const { name, external_ids, other_config, options } = found.iface;
  const merged = mergeMaps(found.iface, entries, marks);
  return {
    port: found.port._uuid,
    operations: [
      assertRows(iface, [isRow(found.iface._uuid)], [{ name, external_ids, other_config, options }]),
      updateRows(iface, [isRow(found.iface._uuid)], { type, mtu_request: mtuRequest, ...merged }),
      ...(isElsewhere ? removalFrom(found) : []),
    ],
  };
}

/** Throws HostError EBUSY for a port of a foreign bridge, and for a member of a bond. */
function requireReleased(source: OvsSource, found: FoundPort, target: BridgeRow | undefined): void {
  const isElsewhere = found.bridge._uuid !== target?._uuid;
  if (!found.isBond && (!isElsewhere || isOwned(found.bridge))) return;
  const what = found.isBond ? `a member of the bond ${found.port.name} in` : "a port of";
  throw refusal(source, "EBUSY", `${found.iface.name} is ${what} bridge ${found.bridge.name}, which has to release it`);
}

function removalFrom({ bridge: holder, port: held }: FoundPort): readonly WireOperation[] {
  const removal = mutate(bridge, "ports", "delete", [held._uuid]);
  return [isUnchanged(holder), mutateRows(bridge, [isRow(holder._uuid)], [removal])];
}

function bridgeOperations(
  { cache }: OvsSource,
  { name, settings, uplink }: OvsBridgeSettings,
  existing: BridgeRow | undefined,
  uplinkPort: UplinkChange["port"],
): readonly WireOperation[] {
  const { datapathType: datapath_type = "", failMode: fail_mode } = settings;
  const { external_ids, other_config } = mergeMaps(existing ?? noMaps, bridgeEntries(settings), {});
  if (existing === undefined) {
    const ports = [{ namedUuid: "local_port" }, uplinkPort];
    return [
      insertRow(iface, { name, type: "internal", external_ids: ownerMarks(noEntries, {}) }, "local_interface"),
      insertRow(
        port,
        { name, interfaces: [{ namedUuid: "local_interface" }], external_ids: ownerMarks(noEntries, {}) },
        "local_port",
      ),
      insertRow(bridge, { name, datapath_type, fail_mode, external_ids, other_config, ports }, "bridge"),
      mutateRows(openVswitch, [], [mutate(openVswitch, "bridges", "insert", [{ namedUuid: "bridge" }])]),
    ];
  }
  const others = otherUplinks(cache, existing, uplink.name);
  return [
    assertRows(
      bridge,
      [isRow(existing._uuid)],
      [{ name, external_ids: existing.external_ids, other_config: existing.other_config }],
    ),
    updateRows(bridge, [isRow(existing._uuid)], { datapath_type, fail_mode, external_ids, other_config }),
    mutateRows(
      bridge,
      [isRow(existing._uuid)],
      [
        ...(others.length > 0 ? [mutate(bridge, "ports", "delete", others)] : []),
        mutate(bridge, "ports", "insert", [uplinkPort]),
      ],
    ),
  ];
}

/** Returns the ports that Switchyard added for an uplink of another name: the PF was renamed. */
function otherUplinks(cache: TableCache, row: BridgeRow, name: string): readonly string[] {
  return [...row.ports].filter((portId) =>
    [...(cache.rows(port).get(portId)?.interfaces ?? [])].some((ifaceId) => {
      const found = cache.rows(iface).get(ifaceId);
      return found !== undefined && found.name !== name && isOwned(found) && found.external_ids.has(pfKey);
    }),
  );
}

function checkOwned(row: BridgeRow, source: OvsSource): void {
  if (!isOwned(row)) throw refusal(source, "EPERM", "the bridge was not created by Switchyard");
}

function refusal({ at }: OvsSource, code: string, words: string): HostError {
  return new HostError(at, code, { words });
}

function isUnchanged({ _uuid, name, external_ids }: BridgeRow): WireOperation {
  return assertRows(bridge, [isRow(_uuid)], [{ name, external_ids }]);
}

const noEntries: Entries = { external_ids: undefined, other_config: undefined, options: undefined };

function bridgeEntries({ externalIDs, otherConfig }: OvsBridgeConfig): Entries {
  return { external_ids: externalIDs, other_config: otherConfig, options: undefined };
}

function interfaceEntries({ externalIDs, otherConfig, options }: OvsInterfaceConfig): Entries {
  return { external_ids: externalIDs, other_config: otherConfig, options };
}
