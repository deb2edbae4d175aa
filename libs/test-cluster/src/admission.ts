// SPDX-License-Identifier: Apache-2.0
/**
 * The admission webhook beside a stage: registered as the operator does, but at loopback in place of a Service, and with a
 * certificate in files, which pods mount from a Secret.
 * Usage: `await registerWebhooks(stage, port); startWebhook(stage, "webhook", port);`
 */
import { issueCertificate, type IssuedCertificate, type KeyPair } from "@switchyard/certificates";
import { collectionPath } from "@switchyard/kube";
import type { GuardedProcess } from "@switchyard/testing";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestCluster } from "./test-cluster.ts";

/** Upstream's name of both configurations. */
export const webhookConfiguration = "sriov-operator-webhook-config";

/** How long the certificate of a stage is valid, and from when: clocks of guests may be behind. */
const [validMs, clockSkewMs] = [30 * 24 * 3_600_000, 3_600_000];

/** Starts a replica; replicas share one certificate. */
export function startWebhook(stage: TestCluster, name: string, port: number): GuardedProcess {
  const listen = ["--listen-address", `127.0.0.1:${port}`, "--shutdown-delay", "100ms"];
  return stage.start(name, "apps/webhook/src/main.ts", [...listen, ...certificateFlags(stage)]);
}

/** Where the webhooks of a stage read their certificate. */
export function certificateFlags(stage: Pick<TestCluster, "directory">): readonly string[] {
  const { certFile, keyFile } = certificateFiles(stage);
  return ["--tls-cert-file", certFile, "--tls-private-key-file", keyFile];
}

/** A new certificate for webhooks on loopback. */
export async function issueWebhookCertificate(): Promise<IssuedCertificate> {
  const nowMs = Date.now();
  const validity = { notBefore: new Date(nowMs - clockSkewMs), notAfter: new Date(nowMs + validMs) };
  return issueCertificate({ names: ["127.0.0.1"], ...validity });
}

/** Webhooks of the stage that run take it, too. */
export async function writeWebhookCertificate(stage: Pick<TestCluster, "directory">, pair: KeyPair): Promise<void> {
  const { certFile, keyFile } = certificateFiles(stage);
  await writeFile(keyFile, pair.key, { mode: 0o600 });
  await writeFile(certFile, pair.cert);
}

/** From here on the API server asks at `port`, and refuses what it gets no answer on. */
export async function registerWebhooks(stage: TestCluster, port: number): Promise<void> {
  const certificate = await issueWebhookCertificate();
  await writeWebhookCertificate(stage, certificate);
  const caBundle = Buffer.from(certificate.ca).toString("base64");
  const common = { admissionReviewVersions: ["v1"], sideEffects: "None", failurePolicy: "Fail", timeoutSeconds: 10 };
  for (const { kind, plural, path, rules } of configurations) {
    const type = { group: "admissionregistration.k8s.io", version: "v1", kind, plural, namespaced: false };
    const clientConfig = { url: `https://127.0.0.1:${port}${path}`, caBundle };
    const webhooks = [{ ...common, name: "operator-webhook.sriovnetwork.openshift.io", clientConfig, rules }];
    const metadata = { name: webhookConfiguration };
    const body = { apiVersion: `${type.group}/${type.version}`, kind, metadata, webhooks };
    await stage.transport.request({ method: "POST", path: collectionPath(type), body });
  }
}

function certificateFiles({ directory }: Pick<TestCluster, "directory">) {
  return { certFile: join(directory, "webhook.crt"), keyFile: join(directory, "webhook.key") };
}

const ours = { apiGroups: ["sriovnetwork.openshift.io"], apiVersions: ["v1"] };

const networks = ["sriovnetworks", "sriovibnetworks", "ovsnetworks", "bridgenetworks"];

const configurations = [
  {
    kind: "MutatingWebhookConfiguration",
    plural: "mutatingwebhookconfigurations",
    path: "/mutating-custom-resource",
    rules: [{ ...ours, operations: ["CREATE", "UPDATE"], resources: ["sriovnetworknodepolicies"] }],
  },
  {
    kind: "ValidatingWebhookConfiguration",
    plural: "validatingwebhookconfigurations",
    path: "/validating-custom-resource",
    rules: [
      {
        ...ours,
        operations: ["CREATE", "UPDATE", "DELETE"],
        resources: ["sriovnetworknodepolicies", "sriovnetworkpoolconfigs", "sriovoperatorconfigs"],
      },
      { ...ours, operations: ["CREATE", "UPDATE"], resources: networks },
    ],
  },
];
