// SPDX-License-Identifier: Apache-2.0
/**
 * Whether webhook and injector have a Secret each. Who makes a certificate for one of them would write over the other's, or
 * take it for its own.
 * Usage: `if (!hasOwnSecret(settings)) return sharedSecretProblem(settings)`.
 */
import type { CertificateSource, ComponentSettings } from "../component-settings.ts";
import type { ComponentProblem } from "../rendered-components.ts";

type Servers = Pick<ComponentSettings, "webhook" | "injector">;

/** Those that are made for one Service; a certificate that somebody else makes may be for both. */
const madeForOne: readonly CertificateSource["kind"][] = ["self-made", "service-ca"];

/** True also where they may share one. */
export function hasOwnSecret({ webhook, injector }: Servers): boolean {
  const kinds = [webhook.certificates.kind, injector.certificates.kind];
  return webhook.secretName !== injector.secretName || !kinds.some((kind) => madeForOne.includes(kind));
}

export function sharedSecretProblem({ injector: { secretName } }: Servers): Omit<ComponentProblem, "component"> {
  const message =
    `cannot be deployed: the Secret ${secretName} is the webhook's: ` +
    "start the operator with another one in ADMISSION_CONTROLLERS_CERTIFICATES_INJECTOR_SECRET_NAME";
  return { severity: "error", field: "spec.enableInjector", message };
}
