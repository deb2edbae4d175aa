// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { componentImageVariables } from "@switchyard/render";
import { commonFlags, parseFlags, type Environment } from "@switchyard/service";
import { operatorFlags } from "./operator-flags.ts";
import { readOperatorSettings, type OperatorSettings } from "./operator-settings.ts";

const pem = "-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n";
const base64 = Buffer.from(pem).toString("base64");

function settings(environment: Environment): OperatorSettings {
  const flags = { ...commonFlags, ...operatorFlags };
  const parsed = parseFlags(flags, [], { NAMESPACE: "sriov-network-operator", ...environment });
  if (parsed.kind !== "run") throw new Error(JSON.stringify(parsed));
  return readOperatorSettings(parsed.values);
}

describe("readOperatorSettings", () => {
  it("reads each image from the variable that messages name", () => {
    const { images } = settings(
      Object.fromEntries(Object.values(componentImageVariables).map((variable) => [variable, `image of ${variable}`])),
    ).components;
    const wanted = Object.entries(componentImageVariables).map(([name, variable]) => [name, `image of ${variable}`]);
    expect(images).toEqual(Object.fromEntries(wanted));
  });

  it.each([
    { what: "the operator", environment: {}, kind: "self-made" },
    { what: "cert-manager", environment: { [`${certificates()}_CERT_MANAGER_ENABLED`]: "true" }, kind: "cert-manager" },
    { what: "OpenShift", environment: { CLUSTER_TYPE: "openshift" }, kind: "service-ca" },
  ])("determines the issuer of certificates: $what", ({ environment, kind }) => {
    const { webhook, injector } = settings(environment).components;
    expect([webhook.certificates.kind, injector.certificates.kind]).toEqual([kind, kind]);
  });

  it.each([
    { form: "in base64, as upstream expects it", text: base64 },
    { form: "in PEM, as in most Secrets", text: pem },
  ])("accepts a CA certificate $form", ({ text }) => {
    const { webhook, injector } = settings({ [`${certificates()}_OPERATOR_CA_CRT`]: text }).components;
    expect(webhook.certificates).toEqual({ kind: "given", caBundle: base64 });
    expect(injector.certificates).toEqual({ kind: "self-made" });
  });

  it("returns lists without blanks, and an empty list for an empty variable", () => {
    const { imagePullSecrets, tls } = settings({ IMAGE_PULL_SECRETS: "a, b,", TLS_CIPHER_SUITES: "" }).components;
    expect([imagePullSecrets, tls.cipherSuites]).toEqual([["a", "b"], []]);
  });
});

function certificates(): string {
  return "ADMISSION_CONTROLLERS_CERTIFICATES";
}
