// SPDX-License-Identifier: Apache-2.0
/**
 * requireKubernetes refuses API servers that are too old, before the operator writes anything. Kubernetes 1.30 is the
 * first release with ValidatingAdmissionPolicy v1 and with the node's name in a pod's token. Without them, the token of
 * one node could write the objects of all nodes (libs/render node-identity.ts).
 */
import { backoffMs, isKubeError, isRecord, sleep, systemClock, type Clock, type Transport } from "@switchyard/kube";
import type { Logger } from "@switchyard/service";

export interface KubernetesVersion {
  readonly major: number;
  readonly minor: number;
}

const minimumVersion: KubernetesVersion = { major: 1, minor: 30 };

/** The API server is older than minimumVersion. */
class UnsupportedKubernetesError extends Error {
  override readonly name = "UnsupportedKubernetesError";

  constructor({ major, minor }: KubernetesVersion) {
    const needed = `${minimumVersion.major}.${minimumVersion.minor}`;
    super(`Kubernetes ${major}.${minor} is not supported: Switchyard needs ${needed} or later. Nothing was changed`);
    this.stack = `${this.name}: ${this.message}`; // it is logged, and a stack trace does not help administrators
  }
}

export interface RequireKubernetesOptions {
  readonly transport: Pick<Transport, "request">;
  readonly log: Pick<Logger, "warn">;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  /** Returns a number in [0, 1). */
  readonly random?: () => number;
}

/** Errors after which a retry would not return the version either. */
const finalCodes = ["Forbidden", "NotFound", "UnexpectedResponse"];

const backoff = { baseMs: 500, maxMs: 10_000 };

/**
 * Resolves when the API server is new enough. Waits for an API server that does not answer. If the version is not
 * available, for example because a proxy hides /version, it logs a warning and resolves: permissions of nodes depend on
 * the policies themselves (components/node-identity-state.ts). Rejects with UnsupportedKubernetesError, or with the signal's
 * reason.
 */
export async function requireKubernetes(options: RequireKubernetesOptions): Promise<void> {
  const { transport, log, signal, clock = systemClock, random = Math.random } = options;
  for (let failures = 1; ; failures++) {
    try {
      const version = readVersion(await transport.request({ method: "GET", path: "/version", signal }));
      if (version === undefined) log.warn("API server does not report its version; continuing");
      else if (isOlder(version, minimumVersion)) throw new UnsupportedKubernetesError(version);
      return;
    } catch (error) {
      if (!isKubeError(error)) throw error;
      if (isKubeError(error, ...finalCodes)) {
        log.warn({ error }, "API server does not report its version; continuing");
        return;
      }
      if (failures === 1) log.warn({ error }, "API server does not answer; retrying");
    }
    await sleep(clock, backoffMs(failures, backoff, random), signal);
  }
}

/** Reads a version.Info. Some providers append to the minor version: "30+". */
export function readVersion(info: unknown): KubernetesVersion | undefined {
  const { major, minor } = isRecord(info) ? info : {};
  const [majorText, minorText] = [major, minor].map(
    (part) => /^\d{1,4}/.exec(typeof part === "string" ? part : "")?.[0],
  );
  if (majorText === undefined || minorText === undefined) return undefined;
  return { major: Number(majorText), minor: Number(minorText) };
}

function isOlder(one: KubernetesVersion, other: KubernetesVersion): boolean {
  return one.major === other.major ? one.minor < other.minor : one.major < other.major;
}
