// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run demo` shows how Switchyard configures nodes. `-- --vm` uses a real kernel in QEMU, and `-- --ovn-offload` moves OVN
 * to SmartNICs. `-- --afxdp` configures AF_XDP devices, `-- --dra` gives VFs to ResourceClaims, and `-- --monitoring` lets an alert
 * fire and end. `-- --keep` keeps the cluster running at the end.
 */
import { once } from "node:events";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { createNarrator, namespace, startTestCluster, type Narrator, type TestCluster } from "@switchyard/test-cluster";
import { createProgress, ensurePrograms, findFreePorts, TestingError } from "@switchyard/testing";
import { ensureLabPackages, VmLabError } from "@switchyard/vm-lab";
import { runDemo } from "./demo.ts";
import { demoImages, simulateWorkloads } from "./simulate-workloads.ts";
import { writeReport } from "./write-report.ts";

const help = `Usage: npm run demo [-- [--vm | --ovn-offload | --afxdp [--vm] | --dra | --monitoring] [--keep]]

Starts a real API server, the operator, and the config daemons of three nodes with fake kernels, and shows how they
configure VFs.

  --vm     use one node with a real kernel in QEMU and SR-IOV NICs (igb) instead
  --ovn-offload
           move OVN to the SmartNICs of three hosts of an OpenShift cluster, and back; needs Go for OpenShift's CRDs
  --afxdp  configure AF_XDP devices of two nodes, and give them back; with --vm, on one node with a real kernel, where
           DPDK's testpmd receives packets (as root, downloads DPDK of Debian 13)
  --dra    give VFs to pods by ResourceClaims, with a real scheduler: a claim, pods that know nothing of claims, a node
           that moves under its pods, and a link that fails
  --monitoring
           start Prometheus, let a node fail and an alert fire, and end it by its runbook; downloads Prometheus of Debian
  --keep   write a page about the cluster before its policies are deleted, and keep it running until Ctrl-C
`;

const { values } = parseArgs({
  options: {
    vm: { type: "boolean" },
    "ovn-offload": { type: "boolean" },
    afxdp: { type: "boolean" },
    dra: { type: "boolean" },
    monitoring: { type: "boolean" },
    keep: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  } as const,
});
if (values.help === true) {
  process.stdout.write(help);
  process.exit(0);
}

await installWhatTheDemoNeeds();
const narrator = createNarrator(process.stdout, process.env);
narrator.scene("Starting the cluster");
narrator.line("demo", simulatedParts());
// With the images of a real installation, doctor finds nothing but what the demo shows.
const isWhole = values.keep === true || values.monitoring === true;
if (isWhole || values.dra === true) Object.assign(process.env, demoImages());
const [metricsPort = 0] = values.monitoring === true ? await findFreePorts(1) : [];
await using testCluster = await startTestCluster(narrator, {
  scheduler: values.dra === true,
  operatorFlags: values.monitoring === true ? (await import("./monitoring-demo.ts")).metricsFlags(metricsPort) : [],
});
// With --dra, a real controller manager makes the pods.
if (isWhole && values.dra !== true) await simulateWorkloads(testCluster);
let report: string | undefined;
/** Whether the nodes have ports for policies of the reader. */
const runsPolicies = [values.vm, values["ovn-offload"], values.afxdp].every((value) => value !== true);
const run = await chooseDemo();
await run(testCluster, narrator, reportOnce);
narrator.line("done", `the demo took ${narrator.elapsedS().toFixed(1)} s`);

if (values.keep === true) {
  await reportOnce();
  narrator.scene("The cluster and its nodes keep running until Ctrl-C. In another terminal:");
  process.stdout.write(`export KUBECONFIG=${testCluster.cluster.kubeconfig}\n`);
  process.stdout.write(`export PATH="$PATH:${dirname(testCluster.kubectlFile)}"  # contains kubectl\n`);
  process.stdout.write(`kubectl -n ${namespace} get sriovnetworknodestates,sriovnetworknodepolicies\n`);
  process.stdout.write("npx switchyard status  # the cluster on one screen; doctor says what is wrong, and why\n");
  const first = "npx switchyard suggest | sed 's/^#: //' | kubectl apply -f -";
  if (runsPolicies) process.stdout.write(`${first}  # policies for the ports that are free, and networks\n`);
  process.stdout.write(`The page about the cluster: ${pathToFileURL(report ?? "").href}\n`);
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
}

/** Writes the page while the cluster has policies and VFs. Demos call it before they delete them. */
async function reportOnce(): Promise<void> {
  if (values.keep !== true || report !== undefined) return;
  report = await writeReport({ kubeconfig: testCluster.cluster.kubeconfig, namespace });
  narrator.line("report", "switchyard doctor -o html has written a page about the cluster");
}

/** Says what is real and what is simulated, so that nobody takes the output for that of real hosts. */
function simulatedParts(): string {
  const real = "API server, operator, webhook and config daemons are real";
  if (values.vm === true) return `${real}, and so is the node's kernel in QEMU; its NICs are emulated`;
  if (values["ovn-offload"] === true) {
    return `${real}; kernels, BlueField cards, reboots and the machine config operator are simulated`;
  }
  if (values.dra === true) {
    return "API server, scheduler, controller manager and all programs of Switchyard are real; kernels, NICs and kubelets are simulated";
  }
  return `${real}; kernels, NICs, kubelets and reboots are simulated`;
}

/** Installs what a node in QEMU and DPDK need, or ends with a line that says what is missing. */
async function installWhatTheDemoNeeds(): Promise<void> {
  if (values.vm !== true) return;
  if (process.platform !== "linux") {
    process.stderr.write("npm run demo: --vm needs Linux; without it, the demo simulates the kernels of its nodes\n");
    process.exit(1);
  }
  try {
    if (values.afxdp === true) await ensurePrograms(["mmdebstrap"]);
    await ensureLabPackages(createProgress({ name: "vm-lab" }));
  } catch (error) {
    if (!(error instanceof TestingError || error instanceof VmLabError)) throw error;
    process.stderr.write(`npm run demo: ${error.message}\n`);
    process.exit(1);
  }
}

type Demo = (testCluster: TestCluster, narrator: Narrator, beforeReset: () => Promise<void>) => Promise<void>;

async function chooseDemo(): Promise<Demo> {
  if (values.afxdp === true && values.vm === true) return (await import("./vm-afxdp-demo.ts")).runVmAfxdpDemo;
  if (values.vm === true) return (await import("./vm-demo.ts")).runVmDemo;
  if (values["ovn-offload"] === true) return (await import("./ovn-offload-demo.ts")).runOvnOffloadDemo;
  if (values.afxdp === true) return (await import("./afxdp-demo.ts")).runAfxdpDemo;
  if (values.dra === true) return (await import("./dra-demo.ts")).runDraDemo;
  if (values.monitoring === true) {
    const { runMonitoringDemo } = await import("./monitoring-demo.ts");
    return (cluster, tell) => runMonitoringDemo(cluster, tell, metricsPort);
  }
  return runDemo;
}
