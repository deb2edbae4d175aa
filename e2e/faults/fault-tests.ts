// SPDX-License-Identifier: Apache-2.0
/**
 * prepareFaultTests provides what every fault test needs: the binaries of a control plane and a bundled operator.
 * Usage: `await using prepared = await prepareFaultTests(); await runCampaign(scenario, { ...prepared, effort, tell });`
 */
import { binariesFor, ensureBinaries, writeToStderr } from "@switchyard/testing";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleApp } from "../src/bundle-app.ts";

/** Whether a test runs at all fault points or at a sample of them: `npm run e2e -- faults --all`. */
export const effort: "all" | "sample" = process.env["SWITCHYARD_FAULTS"] === "all" ? "all" : "sample";

/** Disposing it removes the bundle. */
export interface PreparedFaultTests extends AsyncDisposable {
  /** Directory of the control plane's binaries. */
  readonly binaries: string;
  /** Path of the operator's bundle. */
  readonly main: string;
}

/** Rejects if a binary is missing or the operator cannot be bundled. */
export async function prepareFaultTests(): Promise<PreparedFaultTests> {
  const binaries = await ensureBinaries({ names: binariesFor({ controllerManager: true }), progress: writeToStderr });
  const directory = await mkdtemp(join(tmpdir(), "switchyard-faults-"));
  const main = await bundleApp("apps/operator", directory);
  return { binaries, main, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) };
}
