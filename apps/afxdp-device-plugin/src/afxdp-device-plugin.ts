// SPDX-License-Identifier: Apache-2.0
/**
 * The service that gives AF_XDP devices to pods. main.ts is its process.
 */
import { bpfmanProgram, xskMapDirectory } from "@switchyard/api";
import { encodeRedirectObject, takePluginLock } from "@switchyard/netlink";
import { isErrno, levelOfVerbosity, makeDirectory, runService, type ServiceContext } from "@switchyard/service";
import { connectToCluster } from "@switchyard/service/cluster";
import { open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { afxdpDevicePluginFlags } from "./afxdp-device-plugin-flags.ts";
import { createPluginMetrics } from "./plugin-metrics.ts";
import { servePoolsOfNode } from "./serve-pools-of-node.ts";
import { createPoolServer } from "./serve-pools.ts";

/** Runs until SIGTERM, and returns the exit code of the process. */
export function runAfxdpDevicePlugin(): Promise<number> {
  return runService({
    name: "afxdp-device-plugin",
    summary: "Gives the AF_XDP devices of a node, and their XSK maps, to pods.",
    flags: afxdpDevicePluginFlags,
    async main({ flags, ...service }) {
      service.setLogLevel(levelOfVerbosity(flags.verbosity, flags.logLevel));
      if (flags.loader === "bpfman") await writeProgramFile(flags.programDirectory);
      await using _lock = await lockNode(join(flags.socketDirectory, lockName), service);
      await using server = await createPoolServer({
        paths: {
          kubelet: flags.kubeletDirectory,
          sockets: flags.socketDirectory,
          maps: join(flags.bpfDirectory, xskMapDirectory),
          record: flags.recordFile,
          unprivilegedBpf: "/proc/sys/kernel/unprivileged_bpf_disabled",
        },
        loader: flags.loader,
        metrics: createPluginMetrics(service.metrics),
        log: service.log,
      });
      await using connection = await connectToCluster({
        kubeconfig: flags.kubeconfig,
        log: service.log,
        metrics: service.metrics,
        scrapes: service.scrapes,
      });
      const { transport, log } = connection;
      await servePoolsOfNode({
        ...flags,
        ...service,
        log,
        transport,
        server,
        setNotReady(check) {
          service.setNotReady(() => [...connection.problems(), ...check()]);
        },
      });
    },
  });
}

/** Longer than the name of a network interface, which its directory has. */
const lockName = "afxdp-device-plugin.lock";

/** Waits for the process that ran before, and says so. */
async function lockNode(
  path: string,
  { log, setNotReady, signal }: Pick<ServiceContext<object>, "log" | "setNotReady" | "signal">,
): Promise<AsyncDisposable> {
  let reason = "waiting for the lock of this node";
  setNotReady(() => [reason]);
  return takePluginLock(path, {
    program: "the AF_XDP device plugin",
    signal,
    onWaiting(next) {
      reason = next;
      log.warn({ reason }, "waiting for the lock of the AF_XDP device plugin");
    },
  });
}

/**
 * writeProgramFile writes Switchyard's XDP program as an object file for bpfman, unless the file has it already.
 * Replaces the file atomically: bpfman may read it at any time. Rejects with the errors of Node's file system.
 */
async function writeProgramFile(directory: string): Promise<void> {
  const path = join(directory, bpfmanProgram.file);
  const content = encodeRedirectObject(bpfmanProgram.functionName);
  if ((await readIfThere(path))?.equals(content) === true) return;
  await makeDirectory(directory);
  const beside = `${path}.new`;
  const file = await open(beside, "w", 0o644);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(beside, path);
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}
