// SPDX-License-Identifier: Apache-2.0
/**
 * createAuthority makes a certificate authority for a test run (RFC 5280). It signs the certificate of the API server and
 * one per user; Kubernetes reads the user and groups from the subject (CN and O). It uses P-256 keys, which take a
 * millisecond to make.
 * Usage: `const ca = createAuthority("test"); ca.issueClient({ user: "jane", groups: ["dev"] })`.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";
import { isIPv4 } from "node:net";
import {
  bitString,
  booleanTrue,
  explicit,
  implicit,
  integer,
  octetString,
  oid,
  sequence,
  setOf,
  utcTime,
  utf8,
} from "@switchyard/certificates/der";

/** A certificate and its private key, both in PEM format. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** Identity of a client of the API server. */
export interface UserIdentity {
  readonly user: string;
  /** Groups of the user. The server adds `system:authenticated`. */
  readonly groups?: readonly string[];
}

/** Its certificate and key are those of the authority itself. */
export interface Authority extends KeyPair {
  /** Issues a certificate for a server with these DNS names and IPv4 addresses. */
  issueServer(names: readonly string[]): KeyPair;
  issueClient(identity: UserIdentity): KeyPair;
}

const oids = {
  commonName: "2.5.4.3",
  organization: "2.5.4.10",
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  keyUsage: "2.5.29.15",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  extKeyUsage: "2.5.29.37",
  serverAuth: "1.3.6.1.5.5.7.3.1",
  clientAuth: "1.3.6.1.5.5.7.3.2",
} as const;

const dayMs = 24 * 60 * 60 * 1000;
// ECDSA signature algorithms have no parameters (RFC 5758 3.2).
const signatureAlgorithm = sequence(oid(oids.ecdsaWithSha256));

/**
 * Makes an authority with this name, or one that issues with the certificate and key of an earlier one of this name. Its
 * certificates are valid from a day before `now`, since clocks differ, for a year.
 */
export function createAuthority(name: string, now: Date = new Date(), earlier?: KeyPair): Authority {
  const privateKey =
    earlier === undefined
      ? generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
      : createPrivateKey(earlier.key);
  const issuer = subject({ commonName: name });
  const cert =
    earlier?.cert ??
    issue(issuer, createPublicKey(privateKey), [
      extension(oids.basicConstraints, sequence(booleanTrue()), "critical"),
      extension(oids.keyUsage, bitString(Buffer.of(0b0000_0110), 1), "critical"), // keyCertSign, cRLSign
    ]);

  return { cert, key: toPemKey(privateKey), issueServer, issueClient };

  function issueServer(names: readonly string[]): KeyPair {
    const alternatives = names.map((each) =>
      isIPv4(each) ? implicit(7, Buffer.from(each.split(".").map(Number))) : implicit(2, Buffer.from(each)),
    );
    return issueLeaf(subject({ commonName: names[0] ?? name }), [
      extension(oids.extKeyUsage, sequence(oid(oids.serverAuth))),
      extension(oids.subjectAltName, sequence(...alternatives)),
    ]);
  }

  function issueClient({ user, groups = [] }: UserIdentity): KeyPair {
    return issueLeaf(subject({ commonName: user, organizations: groups }), [
      extension(oids.extKeyUsage, sequence(oid(oids.clientAuth))),
    ]);
  }

  function issueLeaf(of: Buffer, extensions: readonly Buffer[]): KeyPair {
    const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const cert = issue(of, pair.publicKey, [
      extension(oids.keyUsage, bitString(Buffer.of(0b1000_0000), 7), "critical"), // digitalSignature
      ...extensions,
    ]);
    return { cert, key: toPemKey(pair.privateKey) };
  }

  // RFC 5280 4.1, version 3.
  function issue(of: Buffer, publicKey: KeyObject, extensions: readonly Buffer[]): string {
    const validity = sequence(utcTime(new Date(now.getTime() - dayMs)), utcTime(new Date(now.getTime() + 365 * dayMs)));
    const toBeSigned = sequence(
      explicit(0, integer(Buffer.of(2))),
      integer(randomBytes(16)),
      signatureAlgorithm,
      issuer,
      validity,
      of,
      publicKey.export({ type: "spki", format: "der" }),
      explicit(3, sequence(...extensions)),
    );
    const signature = sign("sha256", toBeSigned, privateKey);
    return toPem(sequence(toBeSigned, signatureAlgorithm, bitString(signature)));
  }
}

function subject(names: { readonly commonName: string; readonly organizations?: readonly string[] }): Buffer {
  const attribute = (type: string, value: string) => setOf(sequence(oid(type), utf8(value)));
  return sequence(
    ...(names.organizations ?? []).map((organization) => attribute(oids.organization, organization)),
    attribute(oids.commonName, names.commonName),
  );
}

function extension(type: string, value: Buffer, critical?: "critical"): Buffer {
  return sequence(oid(type), ...(critical ? [booleanTrue()] : []), octetString(value));
}

function toPemKey(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

function toPem(certificate: Buffer): string {
  const lines = certificate.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}
