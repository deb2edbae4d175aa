// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Returns whether a process with these flags trusts a public authority by default, before and after the call. */
function trusted(...flags: readonly string[]): unknown {
  const script = `
    import { X509Certificate } from "node:crypto";
    import { getCACertificates, rootCertificates } from "node:tls";
    import { trustPublicAuthorities } from ${JSON.stringify(join(__dirname, "connections.ts"))};
    const fingerprintOf = (pem) => new X509Certificate(pem).fingerprint256;
    const known = fingerprintOf(rootCertificates[0]);
    const isTrusted = () => getCACertificates("default").map(fingerprintOf).includes(known);
    const before = isTrusted();
    trustPublicAuthorities();
    console.log(JSON.stringify([before, isTrusted()]));`;
  const { SSL_CERT_FILE: _file, SSL_CERT_DIR: _directory, NODE_EXTRA_CA_CERTS: _extra, ...env } = process.env;
  const args = [...flags, "--disable-warning=ExperimentalWarning", "--input-type=module", "-e", script];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", env }));
}

describe("trustPublicAuthorities", () => {
  it("makes a process that has not read the list of public authorities trust them", () => {
    expect(trusted("--use-openssl-ca")).toEqual([false, true]);
  });

  it("changes nothing in other processes", () => {
    expect(trusted()).toEqual([true, true]);
  });
});
