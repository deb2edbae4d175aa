// SPDX-License-Identifier: Apache-2.0
/**
 * The tables of the database Open_vSwitch that configure bridges (ovs-vswitchd.conf.db.5), as of Open vSwitch 2.13 to 3.x.
 * Usage: `const bridges = client.cache.rows(tables.bridge)`
 */
import { boolean, defineTable, integer, mapOf, one, optional, setOf, text, uuid } from "../wire/column.ts";

/** The name of the database. */
export const databaseName = "Open_vSwitch";

/** The one row of this table is the root: bridges that it does not refer to are removed by the server. */
export const openVswitch = defineTable("Open_vSwitch", {
  bridges: setOf(uuid),
  next_cfg: one(integer),
  cur_cfg: one(integer),
  external_ids: mapOf(text, text),
  other_config: mapOf(text, text),
  ovs_version: optional(text),
  iface_types: setOf(text),
  datapath_types: setOf(text),
  dpdk_initialized: one(boolean),
});

export const bridge = defineTable("Bridge", {
  name: one(text),
  datapath_type: one(text),
  fail_mode: optional(text),
  ports: setOf(uuid),
  external_ids: mapOf(text, text),
  other_config: mapOf(text, text),
});

export const port = defineTable("Port", {
  name: one(text),
  interfaces: setOf(uuid),
  tag: optional(integer),
  trunks: setOf(integer),
  vlan_mode: optional(text),
  external_ids: mapOf(text, text),
  other_config: mapOf(text, text),
});

export const iface = defineTable("Interface", {
  name: one(text),
  type: one(text),
  options: mapOf(text, text),
  external_ids: mapOf(text, text),
  other_config: mapOf(text, text),
  mtu_request: optional(integer),
  mtu: optional(integer),
  /** The port's OpenFlow number; -1 if the interface could not be opened, undefined if it was not tried. */
  ofport: optional(integer),
  error: optional(text),
  link_state: optional(text),
  admin_state: optional(text),
});
