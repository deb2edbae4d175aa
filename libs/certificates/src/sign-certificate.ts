// SPDX-License-Identifier: Apache-2.0
/**
 * signCertificate makes a serving certificate and the CA that signs it (RFC 5280). Each CA signs one certificate, and its
 * key is not stored. So the key cannot be stolen, and a client that trusts the CA trusts only this certificate.
 * Usage: `const { ca, cert, key } = await signCertificate({ names, notBefore, notAfter })`.
 */
// @peculiar/x509 needs this import before its own.
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

/** The types of certificate requests and certificates. All texts are in PEM format. */
export interface CertificateRequest {
  /** DNS names and IP addresses of the server. The first becomes the common name. */
  readonly names: readonly string[];
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** A certificate with its key. `cert` can be a chain that starts with the server's certificate. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface IssuedCertificate extends KeyPair {
  /** Certificate of the CA that signed `cert`. */
  readonly ca: string;
}

/** P-256 keys, which take a millisecond to make. */
const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** A common name has at most 64 characters (RFC 5280, ub-common-name). Clients check the alternative names. */
const longestCommonName = 64;

export async function signCertificate({ names, notBefore, notAfter }: CertificateRequest): Promise<IssuedCertificate> {
  const [caKeys, keys] = await Promise.all([generateKeys(), generateKeys()]);
  const commonName = (names[0] ?? "server").slice(0, longestCommonName);
  const validity = { notBefore, notAfter };
  // A new name for each CA: with equal names, verifiers would confuse the CAs in a bundle.
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

/** Ends the text with one newline, so that texts can be concatenated. */
function withEnd(pem: string): string {
  return `${pem.trimEnd()}\n`;
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

/** Returns a positive number of 16 bytes; RFC 5280 4.1.2.2 allows 20. */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString("hex");
}
