// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { WebhookConfiguration } from "./kube-objects.ts";
import type { Manifest } from "./manifest.ts";
import { containerOf, objectsOf, podOf } from "./testing/deployment.ts";

function webhook(resourceInjectorMatchCondition: boolean) {
  const objects = objectsOf("network-resources-injector", { featureGates: { resourceInjectorMatchCondition } });
  return objects.find(isRegistration)?.webhooks[0];
}

describe("the injector", () => {
  it("is not needed for a pod to be created", () => {
    expect(webhook(false)).toMatchObject({ failurePolicy: "Ignore" });
    expect(webhook(false)).not.toHaveProperty("matchConditions");
  });

  it("is needed by the gate, but only for pods that name networks in either annotation", () => {
    expect(webhook(true)).toMatchObject({
      failurePolicy: "Fail",
      matchConditions: [{ expression: expect.stringMatching(/k8s\.v1\.cni\.cncf\.io\/networks.*default-network/) }],
    });
  });

  it("gets the TLS settings as flags", () => {
    const tls = { minVersion: "VersionTLS12", cipherSuites: [], curvePreferences: ["X25519", "secp256r1"] };
    const { args } = containerOf(podOf("network-resources-injector", {}, { tls }), "webhook-server");
    expect(args).toEqual(expect.arrayContaining(["--tls-min-version=VersionTLS12", "--tls-curve-preferences=29,23"]));
  });
});

function isRegistration(object: Manifest): object is WebhookConfiguration {
  return object.kind === "MutatingWebhookConfiguration";
}
