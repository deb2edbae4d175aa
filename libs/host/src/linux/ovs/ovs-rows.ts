// SPDX-License-Identifier: Apache-2.0
/**
 * The tables of Open vSwitch that the daemon monitors, and how owned rows are marked in external_ids: the owner, the PF of an
 * uplink, and the keys of maps that Switchyard set. No column with statistics is monitored.
 */
import { daemonManager, parseLimitedJson } from "@switchyard/api";
import { defineTable, integer, mapOf, one, optional, setOf, text, uuid, type Row } from "@switchyard/ovsdb";
import { bridge, openVswitch } from "@switchyard/ovsdb/vswitch";
import { ovsOwnerKey } from "../../ports/ovs.ts";

export { bridge, openVswitch };

export const port = defineTable("Port", {
  name: one(text),
  interfaces: setOf(uuid),
  external_ids: mapOf(text, text),
});

export const iface = defineTable("Interface", {
  name: one(text),
  type: one(text),
  options: mapOf(text, text),
  external_ids: mapOf(text, text),
  other_config: mapOf(text, text),
  mtu_request: optional(integer),
  ofport: optional(integer),
  error: optional(text),
});

export const monitoredTables = [openVswitch, bridge, port, iface];

export type BridgeRow = Row<typeof bridge>;
export type PortRow = Row<typeof port>;
export type InterfaceRow = Row<typeof iface>;
export type TextMap = ReadonlyMap<string, string>;

/** On interfaces of uplinks: PCI address of the PF. */
export const pfKey = "switchyard.io/pf";
/** On bridges and interfaces: the keys that Switchyard set, as JSON: {"other_config":["a"]}. */
const keysKey = "switchyard.io/keys";
/** On the row of Open_vSwitch: the argument of setHardwareOffload(). */
export const offloadMarkKey = "switchyard.io/hw-offload";

export function isOwned({ external_ids }: { readonly external_ids: TextMap }): boolean {
  return external_ids.get(ovsOwnerKey) === daemonManager;
}

type MapColumn = "external_ids" | "other_config" | "options";

/** Returns the network namespace of the pod for which the CNI plugin ovs added a port; undefined for other ports. */
export function podNamespaceOf({ external_ids }: PortRow): string | undefined {
  return external_ids.get("owner") === "ovs-cni.network.kubevirt.io" ? external_ids.get("contNetns") : undefined;
}

/** The maps of a row. Rows of the table Bridge have no options. */
export type Maps = Readonly<Record<MapColumn, TextMap>>;

/** Entries that Switchyard sets. */
export type Entries = Readonly<Record<MapColumn, Readonly<Record<string, string>> | undefined>>;

export const noMaps: Maps = { external_ids: new Map(), other_config: new Map(), options: new Map() };

/** Returns the entries of a column that Switchyard set; undefined if it set none. */
export function ownEntries(
  row: Partial<Maps> & Pick<Maps, "external_ids">,
  column: MapColumn,
): Readonly<Record<string, string>> | undefined {
  const entries = ownKeys(row.external_ids, column).flatMap((key) => {
    const value = row[column]?.get(key);
    return value === undefined ? [] : [[key, value] as const];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/**
 * Returns the maps with the wanted entries, without entries that Switchyard set before and that are no longer wanted, and
 * with the marks of an owned row.
 */
export function mergeMaps(
  row: Partial<Maps> & Pick<Maps, "external_ids">,
  wanted: Entries,
  marks: Readonly<Record<string, string>>,
): Maps {
  const merge = (column: MapColumn): Map<string, string> => {
    const result = new Map(row[column]);
    for (const key of ownKeys(row.external_ids, column)) result.delete(key);
    for (const [key, value] of Object.entries(wanted[column] ?? {})) result.set(key, value);
    return result;
  };
  const external_ids = merge("external_ids");
  for (const [key, value] of ownerMarks(wanted, marks)) external_ids.set(key, value);
  return { external_ids, other_config: merge("other_config"), options: merge("options") };
}

/** Returns the entries of external_ids that mark a row and entries of its maps as owned. */
export function ownerMarks(
  wanted: Entries,
  marks: Readonly<Record<string, string>>,
): readonly (readonly [string, string])[] {
  const keys = Object.entries(wanted).flatMap(([column, entries = {}]) => {
    const names = Object.keys(entries).sort();
    return names.length === 0 ? [] : [[column, names] as const];
  });
  return [[ovsOwnerKey, daemonManager], [keysKey, JSON.stringify(Object.fromEntries(keys))], ...Object.entries(marks)];
}

/** Returns the keys of a column that Switchyard set. Anybody can write the row, so any content is accepted. */
function ownKeys(externalIds: TextMap, column: MapColumn): readonly string[] {
  const keys = Object.entries(parseObject(externalIds.get(keysKey))).find(([name]) => name === column)?.[1] as unknown;
  return Array.isArray(keys) ? keys.filter((key) => typeof key === "string") : [];
}

function parseObject(text: string | undefined): object {
  try {
    const value = parseLimitedJson(text ?? "{}");
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
