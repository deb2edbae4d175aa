// SPDX-License-Identifier: Apache-2.0
/**
 * readMachine describes the machine of a run, for the report.
 * Usage: `JSON.stringify({ machine: readMachine(), date: new Date().toISOString() })`
 */
import { cpus, loadavg, release, totalmem } from "node:os";

export interface MachineFacts {
  readonly processor: string;
  readonly processors: number;
  readonly memoryMb: number;
  readonly kernel: string;
  readonly node: string;
  /** Load average of the minute before the run. */
  readonly loadBefore: number;
}

export function readMachine(): MachineFacts {
  const all = cpus();
  return {
    processor: all[0]?.model ?? "unknown",
    processors: all.length,
    memoryMb: Math.round(totalmem() / 2 ** 20),
    kernel: release(),
    node: process.version,
    loadBefore: loadavg()[0] ?? 0,
  };
}

/** "AMD EPYC x 2, 24104 MB, Linux 6.18.5, Node v24.21.0, load 0.4" */
export function describeMachine(machine: MachineFacts): string {
  const { processor, processors, memoryMb, kernel, node, loadBefore } = machine;
  return `${processor} x ${processors}, ${memoryMb} MB, Linux ${kernel}, Node ${node}, load ${loadBefore.toFixed(1)}`;
}
