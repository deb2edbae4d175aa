// SPDX-License-Identifier: Apache-2.0
/**
 * Our webhook beside the API server of a stage, which asks it as it would ask the webhook's Service in a cluster.
 * Usage: `await startWebhook(stage)`; wait for its first answer then.
 */
import type { Stage } from "@switchyard/demo/stage";
import { collectionPath, type Transport } from "@switchyard/kube";
import { findFreePorts } from "@switchyard/testing";

/** As the operator names them; the webhook announces its certificate in these. */
const configurationName = "sriov-operator-webhook-config";
const registration = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false } as const;
const policies = ["sriovnetworknodepolicies"];
const networks = ["sriovnetworks", "sriovibnetworks", "ovsnetworks", "bridgenetworks"];

/** Starts it on a free port of loopback, with a certificate that it makes itself. */
export async function startWebhook(stage: Stage): Promise<void> {
  const [port = 0] = await findFreePorts(1);
  await registerWebhooks(stage.transport, port);
  stage.start("webhook", "apps/webhook/src/main.ts", [
    ...["--listen-address", `127.0.0.1:${port}`, "--certificate-secret", "operator-webhook-cert"],
    ...["--certificate-names", "127.0.0.1"],
  ]);
}

async function registerWebhooks(transport: Transport, port: number): Promise<void> {
  const common = { admissionReviewVersions: ["v1"], sideEffects: "None", failurePolicy: "Fail", timeoutSeconds: 10 };
  const rule = { apiGroups: ["sriovnetwork.openshift.io"], apiVersions: ["v1"] };
  const stored = [...policies, "sriovnetworkpoolconfigs", "sriovoperatorconfigs"];
  const kinds = [
    {
      type: { ...registration, kind: "MutatingWebhookConfiguration", plural: "mutatingwebhookconfigurations" },
      path: "/mutating-custom-resource",
      rules: [{ ...rule, operations: ["CREATE", "UPDATE"], resources: policies }],
    },
    {
      type: { ...registration, kind: "ValidatingWebhookConfiguration", plural: "validatingwebhookconfigurations" },
      path: "/validating-custom-resource",
      rules: [
        { ...rule, operations: ["CREATE", "UPDATE", "DELETE"], resources: stored },
        { ...rule, operations: ["CREATE", "UPDATE"], resources: networks },
      ],
    },
  ];
  for (const { type, path, rules } of kinds) {
    const clientConfig = { url: `https://127.0.0.1:${port}${path}` };
    const body = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: type.kind,
      metadata: { name: configurationName },
      webhooks: [{ ...common, name: "operator-webhook.sriovnetwork.openshift.io", clientConfig, rules }],
    };
    await transport.request({ method: "POST", path: collectionPath(type), body });
  }
}
