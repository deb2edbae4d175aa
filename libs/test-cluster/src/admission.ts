// SPDX-License-Identifier: Apache-2.0
/**
 * registerWebhooks and startWebhook run the admission webhook for a test cluster. The registration is that of the operator,
 * but with a loopback URL instead of a Service. The certificate is in files, which pods would mount from a Secret.
 * Usage: `await registerWebhooks(cluster, 8443); startWebhook(cluster, "webhook", 8443);`
 */
import { issueCertificate, type IssuedCertificate, type KeyPair } from "@switchyard/certificates";
import { collectionPath } from "@switchyard/kube";
import type { GuardedProcess } from "@switchyard/testing";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestCluster } from "./test-cluster.ts";

/** Name of both webhook configurations, as upstream has it. */
export const webhookConfiguration = "sriov-operator-webhook-config";

/** Validity of the certificate. It starts early, since the clocks of virtual machines can be behind. */
const [validMs, clockSkewMs] = [30 * 24 * 3_600_000, 3_600_000];

/** Starts a replica of the webhook with additional flags. All replicas use the same certificate. */
export function startWebhook(
  cluster: TestCluster,
  name: string,
  port: number,
  flags: readonly string[] = [],
): GuardedProcess {
  const listen = ["--listen-address", `127.0.0.1:${port}`, "--shutdown-delay", "100ms"];
  return cluster.start(name, "apps/webhook/src/main.ts", [...listen, ...certificateFlags(cluster), ...flags]);
}

/** Returns the flags with the certificate files of a cluster. */
export function certificateFlags(cluster: Pick<TestCluster, "directory">): readonly string[] {
  const { certFile, keyFile } = certificateFiles(cluster);
  return ["--tls-cert-file", certFile, "--tls-private-key-file", keyFile];
}

/** Issues a certificate for webhooks on loopback. */
export async function issueWebhookCertificate(): Promise<IssuedCertificate> {
  const nowMs = Date.now();
  const validity = { notBefore: new Date(nowMs - clockSkewMs), notAfter: new Date(nowMs + validMs) };
  return issueCertificate({ names: ["127.0.0.1"], ...validity });
}

/** Writes the certificate files. Running webhooks reload them. */
export async function writeWebhookCertificate(cluster: Pick<TestCluster, "directory">, pair: KeyPair): Promise<void> {
  const { certFile, keyFile } = certificateFiles(cluster);
  await writeFile(keyFile, pair.key, { mode: 0o600 });
  await writeFile(certFile, pair.cert);
}

/** Registers the webhooks at `port`. From then on the API server rejects requests if the webhook does not respond. */
export async function registerWebhooks(
  cluster: Pick<TestCluster, "directory" | "transport">,
  port: number,
): Promise<void> {
  const certificate = await issueWebhookCertificate();
  await writeWebhookCertificate(cluster, certificate);
  const caBundle = Buffer.from(certificate.ca).toString("base64");
  const common = { admissionReviewVersions: ["v1"], sideEffects: "None", failurePolicy: "Fail", timeoutSeconds: 10 };
  for (const { kind, plural, path, rules } of configurations) {
    const type = { group: "admissionregistration.k8s.io", version: "v1", kind, plural, namespaced: false };
    const clientConfig = { url: `https://127.0.0.1:${port}${path}`, caBundle };
    const webhooks = [{ ...common, name: "operator-webhook.sriovnetwork.openshift.io", clientConfig, rules }];
    const metadata = { name: webhookConfiguration };
    const body = { apiVersion: `${type.group}/${type.version}`, kind, metadata, webhooks };
    await cluster.transport.request({ method: "POST", path: collectionPath(type), body });
  }
}

function certificateFiles({ directory }: Pick<TestCluster, "directory">) {
  return { certFile: join(directory, "webhook.crt"), keyFile: join(directory, "webhook.key") };
}

const ownGroup = { apiGroups: ["sriovnetwork.openshift.io"], apiVersions: ["v1"] };

const afxdpGroup = { apiGroups: ["afxdpnetwork.hns.dev"], apiVersions: ["v1alpha1"] };

const networks = ["sriovnetworks", "sriovibnetworks", "ovsnetworks", "bridgenetworks"];

const configurations = [
  {
    kind: "MutatingWebhookConfiguration",
    plural: "mutatingwebhookconfigurations",
    path: "/mutating-custom-resource",
    rules: [{ ...ownGroup, operations: ["CREATE", "UPDATE"], resources: ["sriovnetworknodepolicies"] }],
  },
  {
    kind: "ValidatingWebhookConfiguration",
    plural: "validatingwebhookconfigurations",
    path: "/validating-custom-resource",
    rules: [
      {
        ...ownGroup,
        operations: ["CREATE", "UPDATE", "DELETE"],
        resources: ["sriovnetworknodepolicies", "sriovnetworkpoolconfigs", "sriovoperatorconfigs"],
      },
      { ...ownGroup, operations: ["CREATE", "UPDATE"], resources: networks },
      {
        ...afxdpGroup,
        operations: ["CREATE", "UPDATE"],
        resources: ["afxdpnetworknodepolicies", "afxdpoperatorconfigs", "afxdpnetworks"],
      },
    ],
  },
];
