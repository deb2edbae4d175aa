// SPDX-License-Identifier: Apache-2.0
/** The database of Open vSwitch: its tables, and transactions that wait for ovs-vswitchd. */
export { configure, interfaceProblem } from "./configure.ts";
export { bridge, databaseName, iface, openVswitch, port } from "./tables.ts";
