// SPDX-License-Identifier: Apache-2.0
/**
 * hasOwnSecret reports whether webhook and injector use different Secrets. If they shared one, the program that creates
 * the certificate of one server would overwrite, or reuse, that of the other.
 * Usage: `const problems = hasOwnSecret(settings) ? [] : [sharedSecretProblem(settings)];`
 */
import type { CertificateSource, ComponentSettings } from "../component-settings.ts";
import type { ComponentProblem } from "../rendered-components.ts";

type Servers = Pick<ComponentSettings, "webhook" | "injector">;

/** Sources whose certificates are valid for one Service only. Other certificates may be valid for both. */
const madeForOne: readonly CertificateSource["kind"][] = ["self-made", "service-ca"];

/** Also returns true if the servers share a Secret but the source of the certificates allows it. */
export function hasOwnSecret({ webhook, injector }: Servers): boolean {
  const kinds = [webhook.certificates.kind, injector.certificates.kind];
  return webhook.secretName !== injector.secretName || !kinds.some((kind) => madeForOne.includes(kind));
}

/** Returns the problem of an injector that shares the webhook's Secret. */
export function sharedSecretProblem({ injector: { secretName } }: Servers): Omit<ComponentProblem, "component"> {
  const message =
    `cannot be deployed, because the webhook uses the Secret ${secretName}, too: ` +
    "set the operator's environment variable ADMISSION_CONTROLLERS_CERTIFICATES_INJECTOR_SECRET_NAME to another name";
  return { severity: "error", field: "spec.enableInjector", message };
}
