// SPDX-License-Identifier: Apache-2.0
/** The process of the command `switchyard`. */
import { restartWithSmallHeap } from "@switchyard/service/memory";
import { run } from "./run.ts";

const [verb = ""] = process.argv.slice(2);
/** Verbs that read the node states and pods of a whole cluster. */
if (["doctor", "plan", "verify", "vfs"].includes(verb)) restartWithSmallHeap();

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0); // the reader has closed the pipe, as in `switchyard … | head`
  throw error;
});
process.exitCode = await run(process.argv.slice(2), process);
