// SPDX-License-Identifier: Apache-2.0
/**
 * Keeps the certificate of one server while the SriovOperatorConfig enables the server (sriov-operator.md H): the Secret
 * that its pods mount, and the caBundle by which the API server trusts it. Servers read the files again once both were
 * replaced, so each certificate has a key of its own. A condition on the SriovOperatorConfig reports the result.
 */
import { certificateReasons as reasons, operatorConfigName, type SriovOperatorConfig } from "@switchyard/api";
import {
  CertificatesError,
  createCertificateKeeper,
  defaultTimings,
  type KubeCertificateStore,
} from "@switchyard/certificates";
import { isKubeError, setCondition, type Cache, type Condition, type Reconcile, type Writer } from "@switchyard/kube";
import { X509Certificate } from "node:crypto";
import type { CertifiedServer } from "./certified-servers.ts";

export interface ServerCertificateDeps {
  readonly server: Pick<CertifiedServer, "isWanted" | "conditionType">;
  readonly operatorConfigs: Cache<SriovOperatorConfig>;
  /** Undefined: somebody else makes the certificate, and no condition of ours is left either. */
  readonly store: KubeCertificateStore | undefined;
  readonly secretName: string;
  /** By which the API server calls the server. */
  readonly names: readonly string[];
  readonly statusWriter: Pick<Writer<SriovOperatorConfig>, "applyStatus">;
  readonly nowMs: () => number;
}

/** A condition that is not yet put among those that there are. */
type Verdict = Pick<Condition, "status" | "reason" | "message">;

export function createServerCertificateReconciler(deps: ServerCertificateDeps): Reconcile {
  const { server, operatorConfigs, store, secretName, names, nowMs } = deps;
  /** Of what was shown last. */
  let validUntil = "";
  const keep =
    store &&
    createCertificateKeeper({
      ...{ store, names, timings: defaultTimings, nowMs },
      onChange({ cert }) {
        validUntil = new X509Certificate(cert).validToDate.toISOString();
      },
    });

  return async function reconcile(_key, signal) {
    const config = operatorConfigs.get(operatorConfigName);
    const isGone = config === undefined || config.metadata.deletionTimestamp !== undefined;
    if (isGone || !server.isWanted(config)) await store?.remove(signal);
    if (isGone) return undefined;
    if (keep === undefined || !server.isWanted(config)) {
      await tell(config, undefined, signal);
      return undefined;
    }
    let next;
    try {
      next = await keep();
    } catch (error) {
      const verdict = signal.aborted ? undefined : judge(error);
      if (verdict !== undefined) await tell(config, verdict, signal);
      throw error;
    }
    const message = `the certificate in Secret ${secretName} is valid until ${validUntil}`;
    if (validUntil !== "") await tell(config, { status: "True", reason: reasons.valid, message }, signal);
    return next;
  };

  async function tell(config: SriovOperatorConfig, verdict: Verdict | undefined, signal: AbortSignal): Promise<void> {
    const type = server.conditionType;
    const own = (config.status?.conditions ?? []).filter((condition) => condition.type === type);
    if (verdict === undefined && own.length === 0) return;
    const { name, uid, generation = 0 } = config.metadata;
    const conditions =
      verdict === undefined
        ? []
        : setCondition(own, { type, ...verdict, observedGeneration: generation }, new Date(nowMs()));
    // Of this very object: an apply would make a new one if it went.
    await deps.statusWriter.applyStatus(
      { metadata: { name, ...(uid === undefined ? {} : { uid }) }, status: { conditions } },
      signal,
    );
  }
}

/** Undefined for our bugs. */
function judge(error: unknown): Verdict | undefined {
  if (error instanceof CertificatesError) {
    return { status: "False", reason: reasons.foreignSecret, message: error.message };
  }
  return isKubeError(error) ? { status: "False", reason: reasons.refused, message: error.message } : undefined;
}
