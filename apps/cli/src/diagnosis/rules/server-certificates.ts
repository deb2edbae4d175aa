// SPDX-License-Identifier: Apache-2.0
/**
 * Certificates of the servers that webhook configurations call, as far as their Secrets can be read. Only tls.crt is used, never
 * the key.
 */
import { X509Certificate } from "node:crypto";
import { at, listAt, textAt, type Manifest } from "../../json.ts";
import type { FindingCode } from "../finding-catalogue.ts";
import { findingOf, refOf, type Finding } from "../finding.ts";
import type { Snapshot } from "../snapshot.ts";

/** A certificate that expires within this time should have been renewed. */
export const expiresSoonMs = 14 * 24 * 60 * 60_000;

export function findServerCertificates(snapshot: Snapshot): readonly Finding[] {
  const servers = serversOf(snapshot);
  return snapshot
    .objectsOf("Secret")
    .filter(({ namespace }) => namespace === snapshot.namespace)
    .flatMap((secret) => {
      const chain = certificatesIn(textAt(at(secret.object, "data"), "tls.crt") ?? "");
      const [leaf] = chain;
      const server = leaf && servers.find(({ host }) => leaf.checkHost(host) !== undefined);
      return leaf === undefined || server === undefined ? [] : problemOf({ secret, leaf, chain, server }, snapshot);
    });
}

interface Server {
  readonly service: string;
  /** The name by which the API server calls it. */
  readonly host: string;
  /** The certificates of the CA bundle. */
  readonly trusted: readonly X509Certificate[];
}

/** The servers in the operator's namespace. Mutating and validating webhooks of one server have the same bundle. */
function serversOf(snapshot: Snapshot): readonly Server[] {
  return ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"]
    .flatMap((kind) => snapshot.objectsOf(kind))
    .flatMap(({ object }) => listAt(object, "webhooks"))
    .flatMap((webhook) => {
      const client = at(webhook, "clientConfig");
      const [service, namespace] = ["name", "namespace"].map((key) => textAt(at(client, "service"), key));
      if (service === undefined || namespace !== snapshot.namespace) return [];
      const trusted = certificatesIn(textAt(client, "caBundle") ?? "");
      return [{ service, host: `${service}.${namespace}.svc`, trusted }];
    });
}

interface Served {
  readonly secret: Manifest;
  readonly leaf: X509Certificate;
  readonly chain: readonly X509Certificate[];
  readonly server: Server;
}

function problemOf({ secret, leaf, chain, server }: Served, { takenAtMs }: Snapshot): readonly Finding[] {
  const { service, trusted } = server;
  const found = (code: FindingCode, what: string): readonly Finding[] => [
    findingOf(code, {
      object: refOf(secret),
      field: "data[tls.crt]",
      message: `the certificate of service "${service}" ${what}`,
    }),
  ];
  const endMs = leaf.validToDate.getTime();
  const until = leaf.validToDate.toISOString();
  if (endMs <= takenAtMs) return found("ServerCertificateExpired", `expired at ${until}`);
  // Without a bundle, another finding says so.
  if (trusted.length > 0 && !isTrusted(leaf, chain, trusted)) {
    return found("ServerCertificateUntrusted", "is not issued by the CA of the webhook configuration");
  }
  return endMs - takenAtMs > expiresSoonMs ? [] : found("ServerCertificateExpiresSoon", `expires at ${until}`);
}

/** Follows the issuers of the certificate, of which the chain may have some, to a trusted one. */
function isTrusted(
  certificate: X509Certificate,
  chain: readonly X509Certificate[],
  trusted: readonly X509Certificate[],
): boolean {
  const issues = (ca: X509Certificate) => certificate.checkIssued(ca) && certificate.verify(ca.publicKey);
  if (trusted.some((ca) => certificate.fingerprint256 === ca.fingerprint256 || issues(ca))) return true;
  const others = chain.filter((one) => one.fingerprint256 !== certificate.fingerprint256);
  const issuer = others.find(issues);
  return issuer !== undefined && isTrusted(issuer, others, trusted);
}

/** certificatesIn reads the certificates of a CA bundle or of a Secret: PEM in base64. What is no certificate is left out. */
export function certificatesIn(base64: string): readonly X509Certificate[] {
  const text = Buffer.from(base64, "base64").toString("latin1");
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.flatMap((pem) => {
    try {
      return [new X509Certificate(pem)];
    } catch {
      return [];
    }
  });
}
