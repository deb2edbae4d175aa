// SPDX-License-Identifier: Apache-2.0
/** `npm run bench -- fleet | afxdp | bpfman | daemon | cni | webhook | ovsdb | ovn-offload | diagnosis`: measures what Switchyard's programs cost, next to a baseline. */
import { TestingError } from "@switchyard/testing";
import { VmLabError } from "@switchyard/vm-lab";
import { afxdpHelp, parseAfxdpOptions } from "./afxdp/afxdp-options.ts";
import { renderAfxdpReport } from "./afxdp/afxdp-report.ts";
import { measureAfxdp } from "./afxdp/measure-afxdp.ts";
import { bpfmanHelp, parseBpfmanOptions } from "./bpfman/bpfman-options.ts";
import { renderBpfmanReport } from "./bpfman/bpfman-report.ts";
import { measureBpfman } from "./bpfman/measure-bpfman.ts";
import { cniHelp, parseCniOptions } from "./cni/cni-options.ts";
import { renderCniReport } from "./cni/cni-report.ts";
import { measureCni } from "./cni/measure-cni.ts";
import { daemonHelp, parseDaemonOptions } from "./daemon/daemon-options.ts";
import { renderDaemonReport } from "./daemon/daemon-report.ts";
import { measureDaemon } from "./daemon/measure-daemon.ts";
import { diagnosisHelp, parseDiagnosisOptions } from "./diagnosis/diagnosis-options.ts";
import { renderDiagnosisReport } from "./diagnosis/diagnosis-report.ts";
import { measureDiagnosis } from "./diagnosis/measure-diagnosis.ts";
import { fleetHelp, parseFleetOptions } from "./fleet/fleet-options.ts";
import { renderFleetReport } from "./fleet/fleet-report.ts";
import { measureFleet } from "./fleet/measure-fleet.ts";
import { runBench } from "./harness/bench.ts";
import { BenchError } from "./harness/run-control.ts";
import { measureOvsdb } from "./ovsdb/measure-ovsdb.ts";
import { ovsdbHelp, parseOvsdbOptions } from "./ovsdb/ovsdb-options.ts";
import { renderOvsdbReport } from "./ovsdb/ovsdb-report.ts";
import { measureOvnOffload } from "./ovn-offload/measure-ovn-offload.ts";
import { ovnOffloadHelp, parseOvnOffloadOptions } from "./ovn-offload/ovn-offload-options.ts";
import { renderOvnOffloadReport } from "./ovn-offload/ovn-offload-report.ts";
import { measureWebhook } from "./webhook/measure-webhook.ts";
import { parseWebhookOptions, webhookHelp } from "./webhook/webhook-options.ts";
import { renderWebhookReport } from "./webhook/webhook-report.ts";

const fleet = { help: fleetHelp, parse: parseFleetOptions, measure: measureFleet, render: renderFleetReport };
const afxdp = { help: afxdpHelp, parse: parseAfxdpOptions, measure: measureAfxdp, render: renderAfxdpReport };
const bpfman = { help: bpfmanHelp, parse: parseBpfmanOptions, measure: measureBpfman, render: renderBpfmanReport };
const daemon = { help: daemonHelp, parse: parseDaemonOptions, measure: measureDaemon, render: renderDaemonReport };
const cni = { help: cniHelp, parse: parseCniOptions, measure: measureCni, render: renderCniReport };
const webhook = { help: webhookHelp, parse: parseWebhookOptions, measure: measureWebhook, render: renderWebhookReport };
const ovsdb = { help: ovsdbHelp, parse: parseOvsdbOptions, measure: measureOvsdb, render: renderOvsdbReport };
const ovnOffload = {
  help: ovnOffloadHelp,
  parse: parseOvnOffloadOptions,
  measure: measureOvnOffload,
  render: renderOvnOffloadReport,
};

const diagnosis = {
  help: diagnosisHelp,
  parse: parseDiagnosisOptions,
  measure: measureDiagnosis,
  render: renderDiagnosisReport,
};

const benches: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  fleet: (args) => runBench(fleet, args),
  afxdp: (args) => runBench(afxdp, args),
  bpfman: (args) => runBench(bpfman, args),
  daemon: (args) => runBench(daemon, args),
  cni: (args) => runBench(cni, args),
  webhook: (args) => runBench(webhook, args),
  ovsdb: (args) => runBench(ovsdb, args),
  "ovn-offload": (args) => runBench(ovnOffload, args),
  diagnosis: (args) => runBench(diagnosis, args),
};

const help = `npm run bench -- COMMAND [options]

Measures what Switchyard's programs cost, next to a baseline in the same run.

  fleet        the operator with a real API server and 1,000 simulated nodes
  afxdp        the operator with AF_XDP devices on 1,000 simulated nodes
  daemon       the config daemon of one node, on the fake kernel or (--vm) on a real kernel
  cni          the start of the CNI plugin eve-bridge
  webhook      the admission webhook with a real API server and the objects of 1,000 nodes
  ovsdb        the OVSDB client with a real ovsdb-server and 1,000 bridges
  ovn-offload  the service ovn-offload with a real API server and 1,000 simulated hosts in 20 pools
  diagnosis    switchyard doctor, plan and vfs with files of 1,000 nodes, and doctor with a real API server

COMMAND --help lists the options of a command.
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
  process.stderr.write(`bench: unknown command "${command}"; the commands are ${Object.keys(benches).join(", ")}\n`);
  process.exitCode = exitUsage;
}
