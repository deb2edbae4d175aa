// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { issueCertificate } from "./certificate-keeper.ts";

const validity = { notBefore: new Date("2026-01-01T00:00:00Z"), notAfter: new Date("2027-01-01T00:00:00Z") };

describe("issueCertificate", () => {
  it("makes a certificate for all names that matches its key and CA", async () => {
    const names = [`webhook.${"n".repeat(63)}.svc`, "localhost", "127.0.0.1"];
    const { ca, cert, key } = await issueCertificate({ names, ...validity });
    const [authority, leaf] = [new X509Certificate(ca), new X509Certificate(cert)];
    expect(leaf.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect(leaf.verify(authority.publicKey)).toBe(true);
    expect(leaf.checkIssued(authority)).toBe(true);
    expect([authority.ca, leaf.ca]).toEqual([true, false]);
    expect(leaf.checkHost(names[0] ?? "")).toBe(names[0]);
    expect(leaf.checkIP("127.0.0.1")).toBe("127.0.0.1");
    expect(new Date(leaf.validTo)).toEqual(validity.notAfter);
  });

  it("makes a new CA each time", async () => {
    const [one, two] = await Promise.all([1, 2].map(() => issueCertificate({ names: ["a"], ...validity })));
    expect(new X509Certificate(one?.ca ?? "").subject).not.toBe(new X509Certificate(two?.ca ?? "").subject);
  });
});
