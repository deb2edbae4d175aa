// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run demo`: the main job, watched live. `-- --vm` does it on a real kernel in QEMU, `-- --keep` keeps all running at the end.
 */
import { once } from "node:events";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { createNarrator, namespace, startTestCluster } from "@switchyard/test-cluster";
import { tellStory } from "./story.ts";

const help = `Usage: npm run demo [-- --vm] [-- --keep]

A real API server, the operator, and the config daemons of three nodes on fake kernels.
  --vm     one node on a real kernel in QEMU, with real SR-IOV NICs (igb)
  --keep   keep the cluster and its nodes running at the end, until Ctrl-C
`;

const { values } = parseArgs({
  options: { vm: { type: "boolean" }, keep: { type: "boolean" }, help: { type: "boolean", short: "h" } },
});
if (values.help === true) {
  process.stdout.write(help);
  process.exit(0);
}

const narrator = createNarrator(process.stdout, process.env);
narrator.scene("Setting the stage");
await using stage = await startTestCluster(narrator);
const tell = values.vm === true ? (await import("./vm-story.ts")).tellVmStory : tellStory;
await tell(stage, narrator);
narrator.line("done", `the whole story took ${narrator.elapsedS().toFixed(1)} s`);

if (values.keep === true) {
  narrator.scene("The cluster and its nodes keep running until Ctrl-C. In another terminal:");
  process.stdout.write(`export KUBECONFIG=${stage.cluster.kubeconfig}\n`);
  process.stdout.write(`export PATH="$PATH:${dirname(stage.kubectlFile)}"  # kubectl, if you have none\n`);
  process.stdout.write(`kubectl -n ${namespace} get sriovnetworknodestates,sriovnetworknodepolicies\n`);
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
}
