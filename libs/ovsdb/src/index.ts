// SPDX-License-Identifier: Apache-2.0
/**
 * A client of OVSDB servers such as Open vSwitch's (RFC 7047 and ovsdb-server.7), without dependencies.
 * Usage: `await using client = new OvsdbClient({ endpoints: ["unix:/run/openvswitch/db.sock"], database: "Open_vSwitch" })`
 */
export { OvsdbClient, type ClientState, type OvsdbClientOptions } from "./client/client.ts";
export { connect, type Connection, type ConnectionOptions, parseEndpoint, type Endpoint } from "./client/connection.ts";
export type { AnyRow, ChangeListener, RowChange, TableCache } from "./client/table-cache.ts";
export { transact } from "./client/transact.ts";
export {
  isOvsdbError,
  OvsdbError,
  type OperationFailure,
  type OvsdbErrorCode,
  type OvsdbErrorDetails,
} from "./ovsdb-error.ts";
export {
  boolean,
  defineTable,
  integer,
  mapOf,
  one,
  optional,
  real,
  setOf,
  text,
  uuid,
  type Atom,
  type AtomType,
  type Column,
  type Columns,
  type NamedUuid,
  type Row,
  type RowValues,
  type Table,
} from "./wire/column.ts";
export type * from "./wire/notation.ts";
export {
  assertRows,
  comment,
  deleteKeys,
  deleteRows,
  insertRow,
  isRow,
  mutate,
  mutateRows,
  selectRows,
  updateRows,
  whereColumn,
} from "./wire/operations.ts";
