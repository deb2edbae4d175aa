// SPDX-License-Identifier: Apache-2.0
/**
 * startControlPlane starts a control plane on free ports.
 * Usage: `await using cluster = await startControlPlane({ controllerManager: true })`.
 */
import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ControlPlane, type ControlPlaneOptions } from "./control-plane.ts";
import { writeControlPlaneFiles } from "./control-plane-files.ts";
import { binariesFor, ensureBinaries } from "../programs/ensure-binaries.ts";
import { findFreePorts, isPortTaken } from "../free-ports.ts";

const startAttempts = 3;

/**
 * Starts all processes and waits until they are ready. Rejects with TestingError `binaries`, or `start`, which has the ends
 * of the logs.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const binaries = options.binaries ?? (await ensureBinaries({ names: binariesFor(options) }));
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "switchyard-control-plane-")));
  await mkdir(dataDir, { recursive: true });
  for (let attempt = 1; ; attempt++) {
    const [etcd = 0, etcdPeer = 0, apiServer = 0] = await findFreePorts(3);
    const ports = { etcd, etcdPeer, apiServer };
    const { nodeProxySocket, controllerManager = nodeProxySocket !== undefined, auditLog = false } = options;
    const layout = { dataDir, ports, controllerManager, auditLog, nodeProxySocket };
    const controlPlane = new ControlPlane({ ...options, binaries }, layout, await writeControlPlaneFiles(layout));
    try {
      await controlPlane.start();
      return controlPlane;
    } catch (error) {
      await controlPlane[Symbol.asyncDispose]();
      // The own processes have ended. If a port is in use now, another process has taken it, and the start is retried.
      const taken = await Promise.all(Object.values(ports).map(isPortTaken));
      if (attempt === startAttempts || !taken.includes(true)) throw error;
      await mkdir(dataDir, { recursive: true });
    }
  }
}
