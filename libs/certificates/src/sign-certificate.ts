// SPDX-License-Identifier: Apache-2.0
/**
 * A certificate for a server, and the authority that vouches for it (RFC 5280). Each authority signs one certificate and
 * its key is forgotten at once: nobody can steal it, and who trusts it trusts nothing else.
 * Usage: `const { ca, cert, key } = await signCertificate({ names, notBefore, notAfter })`.
 */
// @peculiar/x509 wants it to be there before itself.
import "reflect-metadata";
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { randomBytes, webcrypto } from "node:crypto";
import { isIP } from "node:net";
import type { CertificateRequest, IssuedCertificate } from "./issued-certificate.ts";

/** Keys are P-256: making them costs a millisecond. */
const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** Common names have at most 64 characters (RFC 5280, ub-common-name); clients look at the alternative names. */
const longestCommonName = 64;

export async function signCertificate({ names, notBefore, notAfter }: CertificateRequest): Promise<IssuedCertificate> {
  const [caKeys, keys] = await Promise.all([generateKeys(), generateKeys()]);
  const commonName = (names[0] ?? "server").slice(0, longestCommonName);
  const validity = { notBefore, notAfter };
  // Of a name of its own each time: with equal names verifiers would mix up the authorities of an old and a new bundle.
  const caName = [{ CN: [`switchyard-${randomBytes(8).toString("hex")}`] }];
  const ca = await X509CertificateGenerator.createSelfSigned({
    ...validity,
    serialNumber: serialNumber(),
    name: caName,
    signingAlgorithm: algorithm,
    keys: caKeys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  });
  const cert = await X509CertificateGenerator.create({
    ...validity,
    serialNumber: serialNumber(),
    issuer: caName,
    subject: [{ CN: [commonName] }],
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: caKeys.privateKey,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(names.map((value) => ({ type: isIP(value) === 0 ? "dns" : "ip", value }))),
    ],
  });
  const pkcs8 = await webcrypto.subtle.exportKey("pkcs8", keys.privateKey);
  return {
    ca: withEnd(ca.toString("pem")),
    cert: withEnd(cert.toString("pem")),
    key: withEnd(PemConverter.encode(pkcs8, "PRIVATE KEY")),
  };
}

/** So that texts can be put one behind the other. */
function withEnd(pem: string): string {
  return `${pem.trimEnd()}\n`;
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

/** Positive, and of 16 bytes at most 20 (RFC 5280, 4.1.2.2). */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString("hex");
}
