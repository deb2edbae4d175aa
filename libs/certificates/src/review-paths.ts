// SPDX-License-Identifier: Apache-2.0
/**
 * The secret paths at which an admission webhook answers. API servers do not authenticate themselves to webhooks, so whoever does not
 * know the path gets no answer. The operator stores the paths beside the certificate, in the Secret that the webhook's pods mount, and
 * registers the first one. Each certificate brings a new path, which is stored at its announcement. So the pods know it before API servers use it.
 */
import { createHmac } from "node:crypto";
import type { IssuedCertificate } from "./sign-certificate.ts";

/** File in the directory of the mounted Secret, with one path a line. */
export const reviewPathsKey = "review-paths";

/** The path without a secret, which is registered for Secrets of others, and for those of older releases until they are renewed. */
export const openPath = "";

/**
 * Returns 32 characters that nobody can guess who does not have the key of the certificate. The API server accepts a segment of a path
 * only if it is a DNS subdomain (RFC 1123), such as these digits.
 */
export function secretPathOf({ key }: Pick<IssuedCertificate, "key">): string {
  return createHmac("sha256", key).update("switchyard review path").digest("hex").slice(0, 32);
}

/**
 * Returns the secret path of a webhook whose certificate another program provides, so that its key is not known: 32 characters that nobody
 * can guess who does not know the uid. The operator gives it to the pods by an environment variable.
 */
export function reviewPathOf(uid: string): string {
  return createHmac("sha256", uid).update("switchyard review path").digest("hex").slice(0, 32);
}

/** Reports whether the text is a secret path. */
export function isReviewPath(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/** Parses the file. A line that is no path is left out; without any, only the open path counts. */
export function parseReviewPaths(text: string): readonly string[] {
  const lines = text.replace(/\n$/, "").split("\n");
  const paths = lines.filter((line) => line === openPath || isReviewPath(line));
  return paths.length === 0 ? [openPath] : [...new Set(paths)];
}

export function formatReviewPaths(paths: readonly string[]): string {
  return paths.map((path) => `${path}\n`).join("");
}

/**
 * Returns the paths after a step of the certificate (certificate-state.ts). The first one is registered. It changes only to a path that was
 * stored before.
 */
export function pathsAfter(
  kind: "create" | "promote" | "renew",
  before: readonly string[] | undefined,
  issued: IssuedCertificate | undefined,
): readonly string[] {
  const [registered = openPath, announced] = before ?? [];
  if (kind === "promote") return announced === undefined ? [registered] : [announced, registered];
  const added = issued === undefined ? [] : [secretPathOf(issued)];
  return kind === "create" && before === undefined ? added : [registered, ...added];
}
