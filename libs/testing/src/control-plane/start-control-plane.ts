// SPDX-License-Identifier: Apache-2.0
/**
 * startControlPlane starts a control plane on free ports, or borrows one that runs already, if a lender does
 * (SWITCHYARD_CONTROL_PLANES, lender.ts) and nothing is asked for that it does not have. Both are empty clusters.
 * Usage: `await using cluster = await startControlPlane({ controllerManager: true })`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ControlPlane, type ControlPlaneOptions } from "./control-plane.ts";
import { borrowControlPlaneFiles } from "./control-plane-files.ts";
import { borrowServers } from "./loans.ts";
import { startServers } from "./start-servers.ts";
import { binariesFor, ensureBinaries } from "../programs/ensure-binaries.ts";

/**
 * Waits until all processes are ready. Rejects with TestingError `binaries`, or `start`, which has the ends of the logs.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const lender = process.env["SWITCHYARD_CONTROL_PLANES"];
  const borrowed = lender === undefined || lender === "" ? undefined : await borrowControlPlane(lender, options);
  return borrowed ?? startOwn(options);
}

/** Returns undefined if the options ask for what a lender does not have. */
async function borrowControlPlane(lender: string, options: ControlPlaneOptions): Promise<ControlPlane | undefined> {
  const { controllerManager = false, scheduler = false, binaries, dataDir: kept, nodeProxySocket } = options;
  if (kept !== undefined || nodeProxySocket !== undefined || scheduler) return undefined;
  const loan = await borrowServers(lender, { controllerManager, binaries });
  if (loan === undefined) return undefined;
  const dataDir = await temporaryDirectory();
  return new ControlPlane({
    binaries: loan.binaries,
    dataDir,
    servers: loan.servers,
    files: await borrowControlPlaneFiles(loan.authority, loan.layout, dataDir),
    remove: () => rm(dataDir, { recursive: true, force: true }),
  });
}

async function startOwn(options: ControlPlaneOptions): Promise<ControlPlane> {
  const binaries = options.binaries ?? (await ensureBinaries({ names: binariesFor(options) }));
  const dataDir = options.dataDir ?? (await temporaryDirectory());
  const { nodeProxySocket, scheduler = nodeProxySocket !== undefined, auditLog = false } = options;
  const { controllerManager = scheduler } = options;
  const remove = async () => {
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const started = await startServers(binaries, { dataDir, controllerManager, scheduler, auditLog, nodeProxySocket });
    return new ControlPlane({ ...started, binaries, dataDir, remove });
  } catch (error) {
    await remove();
    throw error;
  }
}

function temporaryDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), "switchyard-control-plane-"));
}
