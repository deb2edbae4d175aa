// SPDX-License-Identifier: Apache-2.0
/**
 * registerComponentMetrics registers what the operator deploys: the pods of its DaemonSets, and the certificates of the servers
 * that the API server calls. They are read from the caches at each scrape, so every replica reports the same values.
 */
import { Gauge, type Registry } from "@switchyard/service";
import { X509Certificate } from "node:crypto";
import type { ComponentObjects } from "../components/component-objects.ts";
import type { WatchedServerCertificates } from "../facts/certified-servers.ts";

export interface ComponentMetricsCaches {
  readonly componentObjects: Pick<ComponentObjects, "inventory" | "seen">;
  readonly certificates: Pick<WatchedServerCertificates, "watches">;
}

export function registerComponentMetrics(
  registry: Registry,
  { componentObjects, certificates }: ComponentMetricsCaches,
): void {
  const registers = [registry];
  const daemonSets = componentObjects.inventory.filter(({ type }) => type.kind === "DaemonSet");
  new Gauge({
    name: "switchyard_daemon_set_pods",
    help: "Pods of each DaemonSet of the operator by state: desired (nodes that should run one), updated, and available.",
    labelNames: ["daemon_set", "state"],
    registers,
    collect() {
      this.reset();
      for (const item of daemonSets) {
        const rollout = componentObjects.seen(item)?.rollout;
        if (rollout === undefined) continue;
        for (const state of ["desired", "updated", "available"] as const) {
          this.set({ daemon_set: item.name, state }, rollout[state]);
        }
      }
    },
  });
  new Gauge({
    name: "switchyard_certificate_not_after_timestamp_seconds",
    help:
      "Unix time at which a certificate that the operator issues ends, by component and part: certificate (of the server) or " +
      "ca (that the API server trusts).",
    labelNames: ["component", "part"],
    registers,
    collect() {
      this.reset();
      for (const [component, { secrets }] of certificates.watches) {
        for (const { data } of secrets.list()) {
          for (const [part, key] of parts) {
            const notAfterMs = notAfter(data[key]);
            if (notAfterMs !== undefined) this.set({ component, part }, notAfterMs / 1_000);
          }
        }
      }
    },
  });
}

const parts = [
  ["certificate", "tls.crt"],
  ["ca", "ca.crt"],
] as const;

/** Returns the end of the first certificate of a base64-encoded PEM text; undefined if it is none. Others can write the Secret. */
function notAfter(encoded: string | undefined): number | undefined {
  if (encoded === undefined || encoded === "") return undefined;
  try {
    return new X509Certificate(Buffer.from(encoded, "base64")).validToDate.getTime();
  } catch {
    return undefined;
  }
}
