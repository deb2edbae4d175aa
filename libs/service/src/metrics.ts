// SPDX-License-Identifier: Apache-2.0
/**
 * createMetrics makes the metrics registry of a process. The default metrics are computed at each scrape, so an idle
 * process does no work for them.
 * Usage: `new Counter({ name: "switchyard_plans_total", help: "Number of plans made.", registers: [metrics] })`.
 */
import { performance } from "node:perf_hooks";
import { Counter, Gauge, Histogram, Registry } from "./prom-client.cjs";

export { Counter, Gauge, Histogram, Registry };

/** Returns a registry with the default metrics: CPU time, memory, busy time of the event loop, start time and version. */
export function createMetrics(about: { readonly name: string; readonly version: string }): Registry {
  const metrics = new Registry();
  const registers = [metrics];

  new Counter({
    name: "process_cpu_seconds_total",
    help: "Total user and system CPU time in seconds.",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory in bytes.",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: "process_start_time_seconds",
    help: "Start time of the process in seconds since the Unix epoch.",
    registers,
  }).set(performance.timeOrigin / 1000);
  new Counter({
    name: "nodejs_eventloop_busy_seconds_total",
    help: "Total time in seconds in which the event loop ran code. A rate close to 1 means that the process needs all of the one CPU that it can use.",
    registers,
    collect() {
      this.reset();
      this.inc(performance.eventLoopUtilization().active / 1000);
    },
  });
  new Gauge({
    name: "switchyard_build_info",
    help: "Always 1. The labels name the program and its version.",
    // Not `service`: a ServiceMonitor gives each series a label with that name.
    labelNames: ["component", "version"],
    registers,
  }).set({ component: about.name, version: about.version }, 1);
  return metrics;
}
