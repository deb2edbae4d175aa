// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { fromSecretData, isOwnSecret, toBase64, toSecretData } from "./certificate-secret.ts";

const text = fc.string({ minLength: 1, unit: "grapheme" });
const certificate = fc.record({ ca: text, cert: text, key: text });
const stored = fc.record({
  current: certificate,
  next: fc.option(certificate, { nil: undefined }),
  previousCa: fc.option(text, { nil: undefined }),
});

describe("toSecretData and fromSecretData", () => {
  it("return the same certificates and mark the Secret as own", () => {
    const survives = fc.property(stored, (one) => {
      const data = toSecretData(one);
      expect(fromSecretData(data)).toEqual(one);
      expect(isOwnSecret(data)).toBe(true);
    });
    fc.assert(survives);
  });

  it("use the keys of a TLS Secret and put all CAs into ca.crt", () => {
    const one = { ca: "A", cert: "B", key: "C" };
    const data = toSecretData({ current: one, next: { ...one, ca: "N" }, previousCa: "P" });
    expect(data).toMatchObject({ "tls.crt": toBase64("B"), "tls.key": toBase64("C"), "ca.crt": toBase64("ANP") });
  });

  it.each([
    { of: "an empty Secret", data: {} },
    { of: "kubectl create secret tls", data: { "tls.crt": "QQ==", "tls.key": "QQ==" } },
    { of: "cert-manager", data: { "tls.crt": "QQ==", "tls.key": "QQ==", "ca.crt": "QQ==" } },
  ])("do not accept data of $of", ({ data }) => {
    expect(isOwnSecret(data)).toBe(false);
    expect(fromSecretData(data)).toBeUndefined();
  });
});
