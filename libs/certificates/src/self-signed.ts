// SPDX-License-Identifier: Apache-2.0
/**
 * selfSignedCertificate makes a certificate that signs itself, for servers whose clients do not verify it. It needs no library,
 * so that a process on each node can make one.
 * Usage: `createServer(selfSignedCertificate("config-daemon"), handler)`.
 */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { bitString, explicit, integer, oid, sequence, setOf, utcTime, utf8 } from "./der.ts";
import type { KeyPair } from "./sign-certificate.ts";

const dayMs = 24 * 3_600_000;
/** Longer than a process runs. */
const validMs = 10 * 365 * dayMs;

const commonName = "2.5.4.3";
// ECDSA with SHA-256 has no parameters (RFC 5758 3.2).
const signatureAlgorithm = sequence(oid("1.2.840.10045.4.3.2"));

/** The certificate has a new P-256 key. It is valid from a day ago, because clocks differ, for ten years. */
export function selfSignedCertificate(name: string, now: Date = new Date()): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const subject = sequence(setOf(sequence(oid(commonName), utf8(name))));
  const toBeSigned = sequence(
    explicit(0, integer(Buffer.of(2))), // version 3
    integer(randomBytes(16)),
    signatureAlgorithm,
    subject,
    sequence(utcTime(new Date(now.getTime() - dayMs)), utcTime(new Date(now.getTime() + validMs))),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
  );
  const signature = sign("sha256", toBeSigned, privateKey);
  const encoded = sequence(toBeSigned, signatureAlgorithm, bitString(signature)).toString("base64");
  const lines = encoded.match(/.{1,64}/g) ?? [];
  return {
    cert: ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n"),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}
