// SPDX-License-Identifier: Apache-2.0
/** createDriverMetrics makes the metrics of the DRA driver. */
import { Counter, Gauge, Histogram, type Registry } from "@switchyard/service";

export interface DriverMetrics {
  readonly published: Gauge;
  readonly unhealthy: Gauge;
  readonly connected: Gauge;
  readonly claims: Counter<"operation" | "result">;
  readonly seconds: Histogram<"operation">;
}

/** Upper bounds in seconds: a claim whose VF keeps its driver takes milliseconds, one with another driver a second. */
const buckets = [0.01, 0.05, 0.1, 0.3, 1, 3, 10];

export function createDriverMetrics(registry: Registry): DriverMetrics {
  const registers = [registry];
  return {
    published: new Gauge({
      name: "switchyard_dra_published_vfs",
      help: "Number of VFs in the ResourceSlices of the node.",
      registers,
    }),
    unhealthy: new Gauge({
      name: "switchyard_dra_unhealthy_vfs",
      help: "Number of VFs in the ResourceSlices of the node that are reported as unhealthy.",
      registers,
    }),
    connected: new Gauge({
      name: "switchyard_dra_runtime_connected",
      help: "1 while the driver is connected to the container runtime by NRI, through which it attaches VFs to pods without Multus.",
      registers,
    }),
    claims: new Counter({
      name: "switchyard_dra_claims_total",
      help: "Number of ResourceClaims that were prepared or unprepared, by operation (prepare, unprepare) and result (ok, failed).",
      labelNames: ["operation", "result"],
      registers,
    }),
    seconds: new Histogram({
      name: "switchyard_dra_claim_seconds",
      help: "Time to prepare or unprepare a ResourceClaim, in seconds, by operation (prepare, unprepare).",
      labelNames: ["operation"],
      buckets,
      registers,
    }),
  };
}
