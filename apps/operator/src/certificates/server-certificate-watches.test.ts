// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import type { Transport } from "@switchyard/kube";
import type { CertificateSource, ComponentSettings } from "@switchyard/render";
import { commonFlags, parseFlags } from "@switchyard/service";
import { operatorFlags } from "../start/operator-flags.ts";
import { readOperatorSettings } from "../start/operator-settings.ts";
import { watchServerCertificates } from "../facts/certified-servers.ts";

type Kind = "self-made" | "cert-manager";

interface Case {
  readonly webhook: Kind;
  readonly injector: Kind;
  readonly injectorSecret?: string;
}

function settingsFor({ webhook, injector, injectorSecret }: Case): ComponentSettings {
  const parsed = parseFlags({ ...commonFlags, ...operatorFlags }, [], { NAMESPACE: "sriov" });
  if (parsed.kind !== "run") throw new Error(JSON.stringify(parsed));
  const { components } = readOperatorSettings(parsed.values);
  const by = (kind: Kind): { readonly certificates: CertificateSource } => ({ certificates: { kind } });
  return {
    ...components,
    webhook: { ...components.webhook, ...by(webhook) },
    injector: { ...components.injector, ...by(injector), ...(injectorSecret && { secretName: injectorSecret }) },
  };
}

/** Secrets that the operator reads from the API server. */
async function secretsAskedFor(settings: ComponentSettings): Promise<readonly unknown[]> {
  const names: unknown[] = [];
  const refusing: Transport = {
    namespace: "sriov",
    request({ path, query = {} }) {
      if (path === "/api/v1/namespaces/sriov/secrets") names.push(query["fieldSelector"]);
      return Promise.reject(new Error("away"));
    },
    watch: () => {
      throw new Error("away");
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  await using _watched = watchServerCertificates({ transport: refusing, settings, report: () => undefined });
  await new Promise(setImmediate);
  return names;
}

const webhookSecret = "metadata.name=operator-webhook-cert";
const injectorSecret = "metadata.name=network-resources-injector-cert";

it.each<Case & { readonly of: string; readonly secrets: readonly string[] }>([
  {
    of: "both servers if the operator issues both certificates",
    webhook: "self-made",
    injector: "self-made",
    secrets: [webhookSecret, injectorSecret],
  },
  {
    of: "no server if cert-manager issues the certificates",
    webhook: "cert-manager",
    injector: "cert-manager",
    secrets: [],
  },
  {
    of: "the webhook if another issuer provides the injector's certificate",
    webhook: "self-made",
    injector: "cert-manager",
    secrets: [webhookSecret],
  },
  {
    of: "only the webhook if the injector uses the same Secret",
    webhook: "self-made",
    injector: "self-made",
    injectorSecret: "operator-webhook-cert",
    secrets: [webhookSecret],
  },
])("Secrets are read by name, and only of $of", async ({ secrets, ...of }) => {
  expect(await secretsAskedFor(settingsFor(of))).toEqual(secrets);
});
