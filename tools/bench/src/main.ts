// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run bench -- fleet | daemon | cni | webhook`: what our programs cost, beside a baseline of the same run.
 */
import { TestingError } from "@switchyard/testing";
import { VmLabError } from "@switchyard/vm-lab";
import { BenchError } from "./harness/bench-error.ts";
import { runCniBench } from "./cni/measure-cni.ts";
import { runDaemonBench } from "./daemon/measure-daemon.ts";
import { runFleetBench } from "./fleet/measure-fleet.ts";
import { runWebhookBench } from "./webhook/measure-webhook.ts";

const benches: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  fleet: runFleetBench,
  daemon: runDaemonBench,
  cni: runCniBench,
  webhook: runWebhookBench,
};

const help = `npm run bench -- COMMAND [options]; --help after a command lists its options

  fleet    the operator, beside a real API server and 1,000 simulated nodes
  daemon   a node's daemon, on the fake kernel or (--vm) on a real one
  cni      what it costs to start eve-bridge
  webhook  the admission webhook, beside a real API server with the objects of 1,000 nodes
`;

/** EX_USAGE of sysexits.h. */
const exitUsage = 64;

const [command = "--help", ...args] = process.argv.slice(2);
const bench = benches[command];
if (bench !== undefined) {
  try {
    await bench(args);
  } catch (error) {
    const isExpected = error instanceof BenchError || error instanceof TestingError || error instanceof VmLabError;
    if (!isExpected) throw error;
    process.stderr.write(`bench ${command}: ${error.message}\n`);
    process.exitCode = error.code === "usage" ? exitUsage : 1;
  }
} else if (command === "--help" || command === "-h") {
  process.stdout.write(help);
} else {
  process.stderr.write(`bench: unknown command "${command}"; ${Object.keys(benches).join(", ")} are there\n`);
  process.exitCode = exitUsage;
}
