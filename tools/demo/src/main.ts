// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run demo`: the main job, watched live. `-- --vm` does it on a real kernel in QEMU, `-- --keep` leaves all running.
 */
import { once } from "node:events";
import { parseArgs } from "node:util";
import { createNarrator } from "./narrator.ts";
import { setStage } from "./stage.ts";
import { tellStory } from "./story.ts";

const help = `Usage: npm run demo [-- --vm] [-- --keep]

A real API server, the operator, and the config daemons of three nodes on fake kernels.
  --vm     one node on a real kernel in QEMU, with real SR-IOV NICs (igb)
  --keep   leave all running at the end, until Ctrl-C
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
await using stage = await setStage(narrator);
const tell = values.vm === true ? (await import("./vm-story.ts")).tellVmStory : tellStory;
await tell(stage, narrator);
narrator.line("done", `the whole story took ${narrator.elapsedS().toFixed(1)} s`);

if (values.keep === true) {
  narrator.scene("All is left running; Ctrl-C ends it");
  process.stdout.write(`export KUBECONFIG=${stage.cluster.kubeconfig}\n`);
  await once(process, "SIGINT");
}
