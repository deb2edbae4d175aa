// SPDX-License-Identifier: Apache-2.0
/** Webhook configurations that would lock users out: no server, no certificate authority, or an expired one. */
import { defined } from "@switchyard/api";
import { at, listAt, stringsAt, textAt, type Manifest } from "../../json.ts";
import { certificatesIn, expiresSoonMs } from "./server-certificates.ts";
import type { FindingCode } from "../finding-catalogue.ts";
import { commandFor, findingOf, refOf, type Finding } from "../finding.ts";
import type { Snapshot } from "../snapshot.ts";
import { describePod } from "./operator.ts";

export function findWebhooks(snapshot: Snapshot): readonly Finding[] {
  return ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"]
    .flatMap((kind) => snapshot.objectsOf(kind))
    .flatMap((manifest) =>
      listAt(manifest.object, "webhooks").flatMap((webhook, index) => {
        const service = at(webhook, "clientConfig", "service");
        if (textAt(service, "namespace") !== snapshot.namespace) return [];
        const one = { manifest, webhook, field: `webhooks[${index}]`, service: textAt(service, "name") ?? "" };
        return [...withoutServer(one, snapshot), ...untrusted(one, snapshot)];
      }),
    );
}

interface Webhook {
  readonly manifest: Manifest;
  readonly webhook: unknown;
  /** Path of the webhook in its configuration. */
  readonly field: string;
  /** Name of its Service. */
  readonly service: string;
}

function withoutServer({ manifest, webhook, field, service }: Webhook, snapshot: Snapshot): readonly Finding[] {
  const isStrict = (textAt(webhook, "failurePolicy") ?? "Fail") === "Fail";
  if (!isStrict || !snapshot.isKnown("EndpointSlice") || isServed(service, snapshot)) return [];
  const message = `failurePolicy is Fail, and service "${service}" has no ready endpoint`;
  const found = {
    field: `${field}.failurePolicy`,
    message,
    snapshot,
    evidence: serverEvidence(manifest, service, snapshot),
  };
  return [webhookFinding("WebhookWithoutEndpoints", manifest, found)];
}

/** What its pods do, and how to change objects until they run again. */
function serverEvidence(
  { kind, name }: Manifest,
  service: string,
  { pods, namespace, isKnown }: Snapshot,
): readonly string[] {
  const own = pods.filter(({ namespace: home, labels }) => {
    return home === namespace && [service, service.replace(/-service$/, "")].includes(labels["app"] ?? "");
  });
  const states = own.map((pod) => `pod ${namespace}/${pod.name}: ${describePod(pod)}`);
  const none = isKnown("Pod") && own.length === 0 ? [`no pod of service "${service}" exists`] : [];
  const command = commandFor(`kubectl delete ${kind.toLowerCase()} {name}`, { kind, name });
  return [
    ...states,
    ...none,
    `in an emergency, ${command} admits changes unreviewed until the operator writes it again`,
  ];
}

function isServed(service: string, { objectsOf, namespace }: Snapshot): boolean {
  return objectsOf("EndpointSlice").some(
    (slice) =>
      slice.namespace === namespace &&
      stringsAt(slice.object, "metadata", "labels")["kubernetes.io/service-name"] === service &&
      listAt(slice.object, "endpoints").some((endpoint) => at(endpoint, "conditions", "ready") !== false),
  );
}

/** A bundle is as good as its certificate that expires last: after a renewal it has the old one, too. */
function untrusted({ manifest, webhook, field: path, service }: Webhook, snapshot: Snapshot): readonly Finding[] {
  const field = `${path}.clientConfig.caBundle`;
  const bundle = textAt(at(webhook, "clientConfig"), "caBundle") ?? "";
  if (bundle === "") {
    const message = `the webhook of service "${service}" has no CA bundle`;
    return [webhookFinding("WebhookWithoutCa", manifest, { field, message, snapshot })];
  }
  const ends = certificatesIn(bundle).map(({ validToDate }) => validToDate.getTime());
  if (ends.length === 0) return [];
  const end = Math.max(...ends);
  const until = new Date(end).toISOString();
  if (end <= snapshot.takenAtMs) {
    const message = `the CA of the webhook of service "${service}" expired at ${until}`;
    return [webhookFinding("WebhookCaExpired", manifest, { field, message, snapshot })];
  }
  if (end - snapshot.takenAtMs > expiresSoonMs) return [];
  const message = `the CA of the webhook of service "${service}" expires at ${until}`;
  return [webhookFinding("WebhookCaExpiresSoon", manifest, { field, message, snapshot })];
}

interface Found {
  readonly field: string;
  readonly message: string;
  readonly snapshot: Snapshot;
  readonly evidence?: readonly string[];
}

function webhookFinding(code: FindingCode, manifest: Manifest, { field, message, snapshot, evidence }: Found): Finding {
  const values = { operatorNamespace: snapshot.namespace, resource: manifest.kind.toLowerCase() };
  return findingOf(code, { object: refOf(manifest), field, message, values, ...defined({ evidence }) });
}
