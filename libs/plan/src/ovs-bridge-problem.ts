// SPDX-License-Identifier: Apache-2.0
/**
 * Checks the texts of a bridge before they reach Open vSwitch, which uses names in paths and closes the connection if a text
 * has a zero byte.
 * Usage: `malformation({ name: "br/../x" })` is "\"br/../x\" cannot be the name of a bridge".
 */
import type { OvsBridge } from "@switchyard/api";
import { quote } from "./problem.ts";

/** Prefix of the keys of external_ids with which Switchyard marks its rows. */
const reserved = "switchyard.io/";

/** Returns why the bridge cannot be created; undefined if it can be. */
export function malformation({ name, bridge = {}, uplinks = [] }: OvsBridge): string | undefined {
  // The bridge is a network interface of the same name.
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}$/.test(name)) {
    return `${quote(name)} cannot be the name of a bridge: it must have at most 15 letters, digits, ".", "_" and "-"`;
  }
  const { datapathType = "", externalIDs, otherConfig } = bridge;
  if (!isText(datapathType)) return `${quote(datapathType)} cannot be a datapath type`;
  const interfaces = uplinks.map((uplink) => uplink.interface ?? {});
  const type = interfaces.map((each) => each.type ?? "").find((each) => !isText(each));
  if (type !== undefined) return `${quote(type)} cannot be the type of an interface`;
  const marked = [externalIDs, ...interfaces.map((each) => each.externalIDs)];
  const maps = [...marked, otherConfig, ...interfaces.flatMap((each) => [each.options, each.otherConfig])];
  for (const [key, value] of maps.flatMap((map) => Object.entries(map ?? {}))) {
    if (key === "" || !isText(key) || !isText(value)) return `${quote(key)} cannot be an entry of a column`;
  }
  const taken = marked.flatMap((map) => Object.keys(map ?? {})).find((key) => key.startsWith(reserved));
  return taken === undefined ? undefined : `the key ${quote(taken)} of external_ids is reserved for Switchyard`;
}

/** Reports whether the database accepts the text. */
function isText(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}
