// SPDX-License-Identifier: Apache-2.0
/**
 * Endpoints of OVSDB servers, in the notation of ovs-vsctl's `--db`.
 * Usage: `parseEndpoint("tcp:127.0.0.1:6640")` is `{ host: "127.0.0.1", port: 6640 }`.
 */
import { OvsdbError } from "../ovsdb-error.ts";

/** What net.connect() takes. */
export type Endpoint = { readonly path: string } | { readonly host: string; readonly port: number };

/** The port that IANA assigned to OVSDB. */
const defaultPort = 6640;

/**
 * Reads "unix:/run/openvswitch/db.sock", "unix:///run/openvswitch/db.sock", "/run/openvswitch/db.sock", "tcp:HOST" or
 * "tcp:HOST:PORT", with an IPv6 address in brackets. Throws OvsdbError `endpoint`.
 */
export function parseEndpoint(text: string): Endpoint {
  const path = /^(?:unix:(?:\/\/)?)?(\/[^\0]+)$/.exec(text)?.[1];
  if (path !== undefined) return { path };
  const [, bracketed, plain, port = `${defaultPort}`] =
    /^tcp:(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host !== undefined && Number(port) >= 1 && Number(port) <= 65535) return { host, port: Number(port) };
  throw new OvsdbError("endpoint", `"${text}" is not an OVSDB endpoint: expected unix:/PATH or tcp:HOST:PORT`);
}
