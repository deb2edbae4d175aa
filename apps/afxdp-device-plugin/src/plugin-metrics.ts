// SPDX-License-Identifier: Apache-2.0
/** createPluginMetrics makes the metrics of the AF_XDP device plugin. */
import { Counter, Gauge, type Registry } from "@switchyard/service";

export interface PluginMetrics {
  readonly devices: Gauge<"pool" | "health">;
  readonly registrations: Counter<"pool" | "result">;
  readonly allocations: Counter<"pool" | "result">;
  readonly connections: Counter<"pool" | "result">;
}

export function createPluginMetrics(registry: Registry): PluginMetrics {
  const registers = [registry];
  return {
    devices: new Gauge({
      name: "switchyard_afxdp_devices",
      help: "Number of AF_XDP devices that are announced to the kubelet, by pool and health (healthy, unhealthy).",
      labelNames: ["pool", "health"],
      registers,
    }),
    registrations: new Counter({
      name: "switchyard_afxdp_registrations_total",
      help: "Number of registrations with the kubelet, by pool and result (ok, failed).",
      labelNames: ["pool", "result"],
      registers,
    }),
    allocations: new Counter({
      name: "switchyard_afxdp_allocations_total",
      help: "Number of containers that requested devices, by pool and result (ok, failed).",
      labelNames: ["pool", "result"],
      registers,
    }),
    connections: new Counter({
      name: "switchyard_afxdp_connections_total",
      help: "Number of connections by which pods requested the maps of their devices, by pool and result (served, refused, failed, timeout, too-many).",
      labelNames: ["pool", "result"],
      registers,
    }),
  };
}
