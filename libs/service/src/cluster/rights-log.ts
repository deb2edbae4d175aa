// SPDX-License-Identifier: Apache-2.0
/**
 * createRightsLog writes one line for all rights that a process lacks. A process has dozens of watches, and each of them is refused.
 * The line is written when no other right was refused for some seconds. A right is named again after ten minutes, or later. Refused
 * writes are written as they are, since quotas and admission refuse with the same code.
 * Usage: `const rights = createRightsLog(log); rights.log.warn({ resource, error }, "watch failed; retrying");`
 */
import { isKubeError, systemClock, type Clock, type KubeError } from "@switchyard/kube";
import type { Logger } from "../logger.ts";
import { interceptErrors } from "./outage-log.ts";

export interface RightsLog {
  /** Writes to the given log. A line whose field `error` says that a read was refused is collected instead. */
  readonly log: Logger;
  /** Writes what was collected. Must be called at the end of the process. */
  readonly flush: () => void;
}

/** Caches of optional parts begin some seconds after the others. */
const quietMs = 6_000;
const reminderMs = 10 * 60_000;

export function createRightsLog(target: Logger, clock: Clock = systemClock): RightsLog {
  /** Times at which rights were named. */
  const named = new Map<string, number>();
  const missing = new Set<string>();
  let example = "";
  let cancel: (() => void) | undefined;

  function flush(): void {
    cancel?.();
    cancel = undefined;
    if (missing.size === 0) return;
    const rights = [...missing].toSorted();
    missing.clear();
    for (const right of rights) named.set(right, clock.nowMs());
    target.warn({ rights, example }, "the API server refuses requests because rights are missing; retrying");
  }

  function take(error: unknown): boolean {
    const right = isKubeError(error, "Forbidden") ? refusedRead(error) : undefined;
    if (right === undefined) return false;
    if (missing.has(right) || clock.nowMs() - (named.get(right) ?? -Infinity) < reminderMs) return true;
    if (missing.size === 0) example = isKubeError(error) ? error.words : "";
    missing.add(right);
    cancel?.();
    cancel = clock.after(quietMs, flush);
    return true;
  }

  return { log: interceptErrors(target, take), flush };
}

/** Returns the right that a refused GET needs, "list pods" or "get leases.coordination.k8s.io in kube-system"; undefined for a write. */
function refusedRead({ tried }: KubeError): string | undefined {
  const found =
    /^GET \/(?:api\/[^/]+|apis\/([^/]+)\/[^/]+)(?:\/namespaces\/([^/]+))?\/([^/?]+)(\/[^?]+)?(?:\?.*)?$/.exec(tried);
  if (found === null) return undefined;
  const [, group, namespace, plural = "", name] = found;
  const resource = group === undefined ? plural : `${plural}.${group}`;
  return `${name === undefined ? "list" : "get"} ${resource}${namespace === undefined ? "" : ` in ${namespace}`}`;
}
