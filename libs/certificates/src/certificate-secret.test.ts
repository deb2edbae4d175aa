// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { fromSecretData, isSelfMade, toBase64, toSecretData } from "./certificate-secret.ts";

const text = fc.string({ minLength: 1, unit: "grapheme" });
const certificate = fc.record({ ca: text, cert: text, key: text });
const stored = fc.record({
  current: certificate,
  next: fc.option(certificate, { nil: undefined }),
  previousCa: fc.option(text, { nil: undefined }),
});

describe("the Secret of a certificate", () => {
  it("gives back what was put in, and is known as ours", () => {
    const survives = fc.property(stored, (one) => {
      const data = toSecretData(one);
      expect(fromSecretData(data)).toEqual(one);
      expect(isSelfMade(data)).toBe(true);
    });
    fc.assert(survives);
  });

  it("has what a server mounts under the names of a TLS Secret, and all that is to be trusted", () => {
    const one = { ca: "A", cert: "B", key: "C" };
    const data = toSecretData({ current: one, next: { ...one, ca: "N" }, previousCa: "P" });
    expect(data).toMatchObject({ "tls.crt": toBase64("B"), "tls.key": toBase64("C"), "ca.crt": toBase64("ANP") });
  });

  it.each([
    { of: "nobody", data: {} },
    { of: "kubectl create secret tls", data: { "tls.crt": "QQ==", "tls.key": "QQ==" } },
    { of: "cert-manager", data: { "tls.crt": "QQ==", "tls.key": "QQ==", "ca.crt": "QQ==" } },
  ])("of $of is not ours and has nothing for us", ({ data }) => {
    expect(isSelfMade(data)).toBe(false);
    expect(fromSecretData(data)).toBeUndefined();
  });
});
