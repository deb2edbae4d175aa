// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import type { Transport } from "@switchyard/kube";
import type { CertificateSource, ComponentSettings } from "@switchyard/render";
import { commonFlags, parseFlags } from "@switchyard/service";
import { operatorFlags } from "../operator-flags.ts";
import { readOperatorSettings } from "../operator-settings.ts";
import { watchInjectorCertificate } from "./injector-certificate-watches.ts";

function settings(injector: { readonly secretName: string; readonly kind?: "self-made" | "cert-manager" }) {
  const parsed = parseFlags({ ...commonFlags, ...operatorFlags }, [], { NAMESPACE: "sriov" });
  if (parsed.asked !== "run") throw new Error(JSON.stringify(parsed));
  const { components } = readOperatorSettings(parsed.values);
  const certificates: CertificateSource = { kind: injector.kind ?? "self-made" };
  return { ...components, injector: { ...components.injector, secretName: injector.secretName, certificates } };
}

/** What the operator asks the API server for. */
async function askedFor(of: ComponentSettings): Promise<readonly string[]> {
  const paths: string[] = [];
  const nothing: Transport = {
    namespace: "sriov",
    request({ path }) {
      paths.push(path);
      return Promise.reject(new Error("away"));
    },
    watch: () => {
      throw new Error("away");
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  await using watched = watchInjectorCertificate({ transport: nothing, settings: of, report: () => undefined });
  await new Promise(setImmediate);
  expect(watched.synced).toBe(paths.length === 0);
  return paths;
}

it("the injector's certificate is looked after where the operator makes it", async () => {
  expect(await askedFor(settings({ secretName: "injector-cert" }))).toContain("/api/v1/namespaces/sriov/secrets");
});

it.each([
  { of: "somebody else makes it", secretName: "injector-cert", kind: "cert-manager" },
  { of: "it would be in the webhook's Secret", secretName: "operator-webhook-cert", kind: "self-made" },
] as const)("nobody's keys are read, written or removed where $of", async ({ secretName, kind }) => {
  expect(await askedFor(settings({ secretName, kind }))).toEqual([]);
});
