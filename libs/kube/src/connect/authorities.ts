// SPDX-License-Identifier: Apache-2.0
/**
 * authoritiesOf returns the certificate authorities to trust. Services that use little memory run with --use-openssl-ca
 * (libs/service/src/memory.ts), so Node does not read its list of public authorities at the first connection. A server without
 * authorities of its own needs the list all the same.
 * Usage: `const ca = authoritiesOf(undefined);`
 */
import { getCACertificates } from "node:tls";

/** `ca` is what the configuration names, in PEM format. Undefined: those that Node trusts by default. */
export function authoritiesOf(ca: string | undefined): string | string[] | undefined {
  if (ca || !process.execArgv.includes("--use-openssl-ca")) return ca || undefined;
  return [...getCACertificates("bundled"), ...getCACertificates("extra")];
}
