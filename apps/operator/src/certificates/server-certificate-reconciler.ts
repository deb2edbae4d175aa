// SPDX-License-Identifier: Apache-2.0
/**
 * createServerCertificateReconciler keeps the certificate of one server while the config enables that server
 * (sriov-operator.md H): the Secret that the server's pods mount, and the caBundle with which the API server trusts the
 * certificate. The servers reload certificate and key together, so each certificate has its own key. A condition on the
 * config reports the result.
 */
import { certificateReasons as reasons, type SriovOperatorConfigSpec } from "@switchyard/api";
import {
  CertificatesError,
  createCertificateKeeper,
  defaultTimings,
  type KubeCertificateStore,
} from "@switchyard/certificates";
import { isKubeError, type Reconcile } from "@switchyard/kube";
import { X509Certificate } from "node:crypto";
import type { ConfigCondition } from "../reports/config-condition.ts";
import type { CertifiedServer } from "../facts/certified-servers.ts";

/** The configs of the cluster. */
export interface CertificateConfigs {
  /** Result of componentSpec. */
  readonly spec: SriovOperatorConfigSpec | undefined;
  /** Sets the condition on the config to which `spec` belongs, and removes it from others; undefined removes it from all. */
  readonly report: (condition: ConfigCondition | undefined, signal: AbortSignal) => Promise<void>;
}

export interface ServerCertificateDeps {
  readonly server: Pick<CertifiedServer, "isWanted">;
  readonly configs: () => CertificateConfigs;
  /** Undefined if the operator does not issue the certificate. The condition is removed then. */
  readonly store: KubeCertificateStore | undefined;
  readonly secretName: string;
  /** DNS names by which the API server calls the server. */
  readonly names: readonly string[];
  readonly nowMs: () => number;
}

export function createServerCertificateReconciler(deps: ServerCertificateDeps): Reconcile {
  const { server, configs, store, secretName, names, nowMs } = deps;
  /** The certificate that was stored last; undefined before the first. */
  let last: X509Certificate | undefined;
  const keep =
    store &&
    createCertificateKeeper({
      store,
      names,
      timings: defaultTimings,
      nowMs,
      onChange({ cert }) {
        last = new X509Certificate(cert);
      },
    });

  return async function reconcile(_key, signal) {
    const { spec, report } = configs();
    const isWanted = spec !== undefined && server.isWanted(spec);
    if (!isWanted) await store?.remove(signal);
    if (keep === undefined || !isWanted) {
      await report(undefined, signal);
      return undefined;
    }
    const foreignCa = store?.foreignCa();
    let next;
    try {
      if (foreignCa !== undefined) {
        await store?.publish(foreignCa);
        const message = `another program provides the certificate in Secret ${secretName}; its ca.crt is trusted`;
        await report({ status: "True", reason: reasons.valid, message }, signal);
        return undefined;
      }
      next = await keep();
    } catch (error) {
      const condition = signal.aborted ? undefined : conditionOf(error);
      if (condition !== undefined) await report(condition, signal);
      throw error;
    }
    if (last !== undefined) await report(validity(last, secretName, nowMs()), signal);
    return next;
  };
}

/** Another replica may have replaced a certificate that is not valid now, and the cache does not show that yet. */
function validity({ validFromDate, validToDate }: X509Certificate, secret: string, timeMs: number): ConfigCondition {
  const [from, until] = [validFromDate.toISOString(), validToDate.toISOString()];
  if (validFromDate.getTime() <= timeMs && timeMs < validToDate.getTime()) {
    const message = `the certificate in Secret ${secret} is valid until ${until}`;
    return { status: "True", reason: reasons.valid, message };
  }
  const message =
    `the certificate in Secret ${secret} is valid from ${from} until ${until}, ` +
    `and now it is ${new Date(timeMs).toISOString()}; the operator replaces it`;
  return { status: "False", reason: reasons.notValidNow, message };
}

/** Undefined for errors that are not expected, which the controller reports. */
function conditionOf(error: unknown): ConfigCondition | undefined {
  if (error instanceof CertificatesError) {
    return { status: "False", reason: reasons.foreignSecret, message: error.message };
  }
  return isKubeError(error) ? { status: "False", reason: reasons.refused, message: error.message } : undefined;
}
