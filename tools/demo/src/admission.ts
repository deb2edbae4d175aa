// SPDX-License-Identifier: Apache-2.0
/**
 * The admission webhook beside a stage: registered as the operator's chart does, but at loopback in place of a Service.
 * Usage: `await registerWebhooks(stage, port); startWebhook(stage, "webhook", port);`
 */
import { collectionPath } from "@switchyard/kube";
import type { GuardedProcess } from "@switchyard/testing";
import type { Stage } from "./stage.ts";

/** Upstream's name of both configurations. */
export const webhookConfiguration = "sriov-operator-webhook-config";

/** Where the webhook keeps the certificate that it makes. */
export const webhookSecret = "operator-webhook-cert";

/** Starts a replica; replicas share one certificate. */
export function startWebhook(stage: Stage, name: string, port: number): GuardedProcess {
  const certificate = ["--certificate-secret", webhookSecret, "--certificate-names", "127.0.0.1"];
  const listen = ["--listen-address", `127.0.0.1:${port}`, "--shutdown-delay", "100ms"];
  return stage.start(name, "apps/webhook/src/main.ts", [...listen, ...certificate]);
}

/** From here on the API server asks at `port`, and refuses what it gets no answer on. */
export async function registerWebhooks(stage: Stage, port: number): Promise<void> {
  const common = { admissionReviewVersions: ["v1"], sideEffects: "None", failurePolicy: "Fail", timeoutSeconds: 10 };
  for (const { kind, plural, path, rules } of configurations) {
    const type = { group: "admissionregistration.k8s.io", version: "v1", kind, plural, namespaced: false };
    const clientConfig = { url: `https://127.0.0.1:${port}${path}` };
    const webhooks = [{ ...common, name: "operator-webhook.sriovnetwork.openshift.io", clientConfig, rules }];
    const metadata = { name: webhookConfiguration };
    const body = { apiVersion: `${type.group}/${type.version}`, kind, metadata, webhooks };
    await stage.transport.request({ method: "POST", path: collectionPath(type), body });
  }
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
