// SPDX-License-Identifier: Apache-2.0
/**
 * trustPublicAuthorities makes connections to servers for which the configuration names no certificate authorities trust the public
 * ones that Node knows. Services that use little memory run with --use-openssl-ca (libs/service/src/memory.ts), so Node does not
 * read its list at the first connection, and trusts only what OpenSSL finds on the machine.
 * Usage: `if (ca === undefined) trustPublicAuthorities();`
 */
import { getCACertificates, setDefaultCACertificates } from "node:tls";

let isDone = false;

/** Applies to the connections of the whole process that begin later. Does nothing in a process without --use-openssl-ca. */
export function trustPublicAuthorities(): void {
  if (isDone || !process.execArgv.includes("--use-openssl-ca")) return;
  setDefaultCACertificates([...getCACertificates("bundled"), ...getCACertificates("extra")]);
  isDone = true;
}
