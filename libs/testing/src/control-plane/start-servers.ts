// SPDX-License-Identifier: Apache-2.0
/** startServers starts the processes of a control plane on free ports, with new certificates. */
import { mkdir } from "node:fs/promises";
import { writeControlPlaneFiles, type ControlPlaneFiles } from "./control-plane-files.ts";
import type { ControlPlaneLayout } from "./control-plane-flags.ts";
import { LocalServers } from "./local-servers.ts";
import { findFreePorts, isPortTaken } from "../free-ports.ts";

const startAttempts = 3;

/** Rejects with TestingError `start`, which has the ends of the logs. */
export async function startServers(
  binaries: string,
  options: Omit<ControlPlaneLayout, "ports">,
): Promise<{ servers: LocalServers; files: ControlPlaneFiles }> {
  for (let attempt = 1; ; attempt++) {
    await mkdir(options.dataDir, { recursive: true });
    const [etcd = 0, etcdPeer = 0, apiServer = 0] = await findFreePorts(3);
    const ports = { etcd, etcdPeer, apiServer };
    const layout = { ...options, ports };
    const files = await writeControlPlaneFiles(layout);
    const servers = new LocalServers(binaries, layout, files);
    try {
      await servers.start();
      return { servers, files };
    } catch (error) {
      await servers[Symbol.asyncDispose]();
      // The own processes have ended. If a port is in use now, another process has taken it, and the start is retried.
      const taken = await Promise.all(Object.values(ports).map(isPortTaken));
      if (attempt === startAttempts || !taken.includes(true)) throw error;
    }
  }
}
