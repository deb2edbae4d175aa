// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the config daemon, or its command `cleanup`, on a fake kernel in its own process. Only the host differs from the real
 * daemon; the command takes no lock of the node.
 * Usage: `node fake-node.ts --kernel-socket /tmp/x/worker-1.sock --node-name worker-1 --kubeconfig … --namespace …`,
 * `KERNEL_SOCKET=/tmp/x/worker-1.sock node fake-node.ts cleanup --dry-run`
 */
import { runDaemon } from "@switchyard/config-daemon/daemon";
import { connectFakeHost } from "@switchyard/host/testing";
import { flag, levelOfVerbosity, nodeFlags, runService, text, yesOrNo } from "@switchyard/service";
import { connectToCluster } from "@switchyard/service/cluster";
import { setHeapGrowthStep, keepCompiledCode, restartWithMemoryFlags } from "@switchyard/service/memory";
import { openKubelet } from "../kubelet/open-kubelet.ts";
import { parseCleanupArguments } from "../cleanup/cleanup-command.ts";
import { runCleanup } from "../cleanup/run-cleanup.ts";
import { defaultTiming } from "../deadlines/with-deadline.ts";
import { createSaveMemory } from "../start/resources.ts";

if (process.argv[2] === "cleanup") process.exit(await cleanUp(process.argv.slice(3)));
restartWithMemoryFlags();
setHeapGrowthStep();
keepCompiledCode();
const exitCode = await runService({
  name: "config-daemon",
  summary: "The config daemon on a fake kernel.",
  flags: {
    nodeName: nodeFlags.nodeName,
    kernelSocket: flag(text("PATH"), {
      required: true,
      env: "KERNEL_SOCKET",
      help: "Socket of the fake kernel.",
    }),
    hostRoot: flag(text("DIR"), {
      default: "/nowhere",
      env: "HOST_ROOT",
      help: "Directory with the sockets of the kubelet.",
    }),
    useExternalDrainer: flag(yesOrNo, {
      default: "false",
      env: "USE_EXTERNAL_DRAINER",
      help: "An external drainer, and not the operator, drains this node.",
    }),
  },
  async main({ flags, log: processLog, setLogLevel, metrics, scrapes, signal, setNotReady, setNotAlive }) {
    const { nodeName, namespace, kernelSocket, useExternalDrainer, maxCacheAge: maxCacheAgeMs } = flags;
    await using cluster = await connectToCluster({ kubeconfig: flags.kubeconfig, log: processLog, metrics, scrapes });
    const { transport, log } = cluster;
    const host = connectFakeHost(kernelSocket);
    const node = { transport, host, nodeName, namespace, maxPfs: 4, useExternalDrainer, maxCacheAgeMs };
    const onVerbosity = (verbosity: number | undefined): void => {
      setLogLevel(levelOfVerbosity(verbosity, flags.logLevel));
    };
    const kubelet = openKubelet(flags.hostRoot);
    const onFirstPass = createSaveMemory();
    await runDaemon({
      ...node,
      log,
      metrics,
      onVerbosity,
      onFirstPass,
      setNotReady,
      setNotAlive,
      kubelet,
      signal,
    });
  },
});

// Idle connections and watches of the kernel would keep the process alive.
process.exit(exitCode);

async function cleanUp(args: readonly string[]): Promise<number> {
  const parsed = parseCleanupArguments(args);
  if (!parsed.ok) throw new Error(parsed.error);
  return runCleanup({
    ...parsed.value,
    host: connectFakeHost(process.env["KERNEL_SOCKET"] ?? ""),
    maxHanging: 4,
    timing: defaultTiming,
    signal: new AbortController().signal,
    readKubelet: openKubelet(parsed.value.hostRoot).readAfxdp,
    print: (line) => void process.stdout.write(`${line}\n`),
    fail: (line) => void process.stderr.write(`${line}\n`),
  });
}
