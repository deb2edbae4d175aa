// SPDX-License-Identifier: Apache-2.0
/**
 * signArtifact signs an artifact in a registry with cosign, and attaches signed statements about it. In a workflow the
 * signature is keyless: it carries the identity of the workflow. A key is for tests and for private registries.
 * Usage: `await signArtifact({ reference: "ghcr.io/switchyard/x@sha256:…", statements: [], key: undefined })`.
 */
import { outputOf } from "@switchyard/testing";
import { goPrograms } from "@switchyard/go-programs";
import { join } from "node:path";
import { ReleaseError } from "../release-error.ts";

/** What a statement says, in cosign's words. */
export type StatementType = "slsaprovenance1" | "spdxjson" | "cyclonedx";

export interface Statement {
  readonly type: StatementType;
  /** File with the predicate, as JSON. */
  readonly predicate: string;
}

export interface SignOptions {
  /** With a digest, because a tag may be moved between the push and the signature. */
  readonly reference: string;
  readonly statements: readonly Statement[];
  /** File with a private key of cosign; its password is in COSIGN_PASSWORD. */
  readonly key: string | undefined;
}

export async function signArtifact({ reference, statements, key }: SignOptions): Promise<void> {
  if (!/@sha256:[0-9a-f]{64}$/.test(reference)) {
    throw new ReleaseError("usage", `"${reference}" must have a digest: NAME@sha256:…`);
  }
  const cosign = join(await goPrograms("cosign"), "cosign");
  // Signatures with a key are not published in the public log, which tests and private registries must not depend on.
  const identity = key === undefined ? [] : ["--key", key, "--tlog-upload=false", "--use-signing-config=false"];
  const registry = isLoopback(reference) ? ["--allow-http-registry"] : [];
  const common = ["--yes", ...identity, ...registry];
  await outputOf(cosign, ["sign", ...common, reference]);
  for (const { type, predicate } of statements) {
    await outputOf(cosign, ["attest", ...common, "--type", type, "--predicate", predicate, reference]);
  }
}

/** Reports whether the registry is on this machine. Only such a registry may be reached without TLS. */
export function isLoopback(reference: string): boolean {
  return /^(?:localhost|127\.0\.0\.1)(?::\d+)?\//.test(reference);
}
