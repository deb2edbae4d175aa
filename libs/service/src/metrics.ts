// SPDX-License-Identifier: Apache-2.0
/**
 * The metrics of a process. All of the default ones are read when somebody asks for them: an idle process does nothing.
 * Usage: `new Counter({ name: "switchyard_plans_total", help: "Plans made.", registers: [metrics] })`.
 */
import { performance } from "node:perf_hooks";
import { Counter, Gauge, Histogram, Registry } from "./prom-client.cjs";

export { Counter, Gauge, Histogram, Registry };

/** A registry with what tells a sick process from a healthy one: CPU, memory, busy event loop, start time, version. */
export function createMetrics(about: { readonly name: string; readonly version: string }): Registry {
  const metrics = new Registry();
  const registers = [metrics];

  new Counter({
    name: "process_cpu_seconds_total",
    help: "CPU time spent, user and system.",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory.",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: "process_start_time_seconds",
    help: "When the process started, in seconds since 1970.",
    registers,
  }).set(performance.timeOrigin / 1000);
  new Counter({
    name: "nodejs_eventloop_busy_seconds_total",
    help: "Time in which the event loop ran code; its rate is the share of one CPU that is the limit.",
    registers,
    collect() {
      this.reset();
      this.inc(performance.eventLoopUtilization().active / 1000);
    },
  });
  new Gauge({
    name: "switchyard_build_info",
    help: "Always 1; what runs is in the labels.",
    labelNames: ["service", "version"],
    registers,
  }).set({ service: about.name, version: about.version }, 1);
  return metrics;
}
