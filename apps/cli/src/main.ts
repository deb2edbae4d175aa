// SPDX-License-Identifier: Apache-2.0
/** The process `switchyard`. */
import { run } from "./run.ts";

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0); // `switchyard … | head` has read enough
  throw error;
});
process.exitCode = await run(process.argv.slice(2), process);
