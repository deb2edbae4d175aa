// SPDX-License-Identifier: Apache-2.0
/**
 * watchSchemas follows whether the CustomResourceDefinitions of the cluster have all fields of this release. With older ones,
 * the API server drops fields that the operator writes, or refuses to apply them. The operator then writes nothing.
 *
 * It reads the OpenAPI documents of the API server, which every authenticated client may read, so it needs no rights on
 * CustomResourceDefinitions. If the API server does not provide them, nothing is known, and the operator works as usual.
 *
 * A cluster may have the kinds for AF_XDP only. Then the kinds for SR-IOV are not missing, and the operator works without them.
 */
import { afxdpApiVersion, apiGroup, apiVersion } from "@switchyard/api";
import { isRecord, sleep, systemClock, type Clock, type Transport } from "@switchyard/kube";
import type { Logger } from "@switchyard/service";

export interface SchemaWatch {
  /** A sentence for each kind that is missing or lacks fields. Empty if all are current, or if nothing is known. */
  problems(): readonly string[];
  /** Resolves after the first comparison, as soon as no kind lacks anything. Rejects with the signal's reason. */
  whenCurrent(signal: AbortSignal): Promise<void>;
  /** Resolves as soon as a kind lacks something. Rejects with the signal's reason. */
  whenOutdated(signal: AbortSignal): Promise<void>;
}

export interface SchemaWatchOptions {
  readonly transport: Pick<Transport, "request">;
  readonly log: Pick<Logger, "warn" | "info">;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

/** The command that corrects it, for messages. The operator's own account may not change CustomResourceDefinitions. */
export const crdsRemedy =
  'run "kubectl apply --server-side --force-conflicts -f charts/switchyard/crds" in a checkout of this release; ' +
  '"helm upgrade" does the same by "operator crds apply"';

/** An administrator waits for the operator to resume. */
const outdatedIntervalMs = 2_000;
const currentIntervalMs = 60_000;
/** The caches look for missing kinds as often. */
const absentIntervalMs = 5_000;

/** A comparison. `isAbsent` if the API server has the kinds for AF_XDP and no kind for SR-IOV. */
interface Found {
  readonly problems: readonly string[];
  readonly isAbsent: boolean;
}

export function watchSchemas({ transport, log, signal, clock = systemClock }: SchemaWatchOptions): SchemaWatch {
  let problems: readonly string[] | undefined;
  let isAbsent = false;
  let seenDocument = "";
  const listeners = new Set<() => void>();

  async function look(): Promise<Found> {
    const index = await transport.request({ method: "GET", path: "/openapi/v3", signal });
    const paths = isRecord(index) && isRecord(index["paths"]) ? index["paths"] : undefined;
    if (paths === undefined) return { problems: [], isAbsent: false };
    const entry = paths[`apis/${apiVersion}`];
    if (entry === undefined && Object.hasOwn(paths, `apis/${afxdpApiVersion}`)) {
      seenDocument = "";
      return { problems: [], isAbsent: true };
    }
    // The URL contains a hash of the document. Without an entry, no kind of the group is installed.
    const url = isRecord(entry) && typeof entry["serverRelativeURL"] === "string" ? entry["serverRelativeURL"] : "none";
    if (url === seenDocument && problems !== undefined) return { problems, isAbsent: false };
    const document =
      url === "none" ? {} : await transport.request({ method: "GET", path: `/openapi/v3/apis/${apiVersion}`, signal });
    const { compareSchemas } = await import("./schema-fields.ts");
    const found = compareSchemas(document);
    seenDocument = url;
    return { problems: found, isAbsent: false };
  }

  async function follow(): Promise<void> {
    let isUnknown = false;
    for (;;) {
      try {
        const found = await look();
        report(found);
        ({ problems, isAbsent } = found);
        isUnknown = false;
      } catch (error) {
        // Whatever the error is, the operator must not wait for ever for a comparison.
        if (signal.aborted) throw error;
        if (!isUnknown) {
          log.warn({ error }, "schemas of the API server cannot be read; continuing without comparing them");
        }
        isUnknown = true;
        problems ??= [];
      }
      for (const listener of listeners) listener();
      await sleep(clock, intervalOf(problems), signal);
    }
  }

  function intervalOf(present: readonly string[]): number {
    if (present.length > 0) return outdatedIntervalMs;
    return isAbsent ? absentIntervalMs : currentIntervalMs;
  }

  /** Logs what is different from the last comparison. */
  function report(found: Found): void {
    if (found.isAbsent) {
      const effect = "SR-IOV policies, pools and networks, and drains, are not managed; AF_XDP is";
      if (!isAbsent) log.info({ group: apiGroup, effect }, "CustomResourceDefinitions are not installed");
      return;
    }
    if (found.problems.join() === (problems ?? []).join() && !isAbsent) return;
    if (found.problems.length === 0) {
      log.info("CustomResourceDefinitions are current; resuming");
      return;
    }
    log.warn(
      { problems: found.problems, remedy: crdsRemedy },
      "CustomResourceDefinitions are older than the operator; writing nothing",
    );
  }

  function until(isReached: () => boolean, abort: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        if (!abort.aborted && !isReached()) return;
        listeners.delete(end);
        abort.removeEventListener("abort", end);
        if (abort.aborted) reject(abort.reason as Error);
        else resolve();
      };
      listeners.add(end);
      abort.addEventListener("abort", end);
      end();
    });
  }

  follow().catch(() => undefined); // it ends with the signal
  return {
    problems: () => problems ?? [],
    whenCurrent: (abort) => until(() => problems?.length === 0, abort),
    whenOutdated: (abort) => until(() => (problems?.length ?? 0) > 0, abort),
  };
}
