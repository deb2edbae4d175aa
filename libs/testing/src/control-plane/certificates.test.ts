// SPDX-License-Identifier: Apache-2.0
import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { createAuthority } from "./certificates.ts";

describe("createAuthority", () => {
  const now = new Date("2026-11-20T12:00:00Z");
  const authority = createAuthority("test", now);
  const root = new X509Certificate(authority.cert);

  it("has a self-signed CA certificate that is valid for a year", () => {
    expect(root.ca).toBe(true);
    expect(root.verify(root.publicKey)).toBe(true);
    expect([root.validFromDate, root.validToDate]).toEqual([
      new Date("2026-11-19T12:00:00Z"),
      new Date("2027-11-20T12:00:00Z"),
    ]);
  });

  it("puts the user into CN and the groups into O", () => {
    const { cert } = authority.issueClient({ user: "system:node:worker-1", groups: ["system:nodes", "ünïcode"] });
    const client = new X509Certificate(cert);
    expect(client.subject.split("\n")).toEqual(["O=system:nodes", "O=ünïcode", "CN=system:node:worker-1"]);
    expect(client.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
  });

  it("puts addresses and names of servers into the subject alternative names", () => {
    const server = new X509Certificate(authority.issueServer(["127.0.0.1", "kubernetes.default.svc"]).cert);
    expect([server.checkIP("127.0.0.1"), server.checkHost("kubernetes.default.svc")]).toEqual([
      "127.0.0.1",
      "kubernetes.default.svc",
    ]);
    expect(server.checkHost("elsewhere")).toBeUndefined();
  });

  it("issues certificates that OpenSSL accepts, for any user name", () => {
    const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }).filter((text) => text.isWellFormed());
    const holds = fc.property(name, fc.array(name, { maxLength: 5 }), (user, groups) => {
      const client = new X509Certificate(authority.issueClient({ user, groups }).cert);
      expect(client.verify(root.publicKey)).toBe(true);
      expect(client.toLegacyObject().subject.CN).toBe(user);
    });
    fc.assert(holds, { numRuns: 50 });
  });
});
