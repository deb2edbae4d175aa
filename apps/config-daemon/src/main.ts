// SPDX-License-Identifier: Apache-2.0
/**
 * The config daemon's process.
 */
import { createLinuxHost } from "@switchyard/host";
import { connect } from "@switchyard/kube";
import { flag, integer, levelOfVerbosity, runFrugally, runService, text, yesOrNo } from "@switchyard/service";
import { runDaemon } from "./daemon.ts";
import { readKubeletApiServer } from "./start/kubelet-api-server.ts";
import { createLockCondition } from "./lock/lock-condition.ts";
import { takeLock } from "./lock/take-lock.ts";
import { sizeThreadPool } from "./start/thread-pool.ts";

runFrugally();
const exitCode = await runService({
  name: "config-daemon",
  version: "0.1.0",
  summary: "Gives one node's NICs what its SriovNetworkNodeState asks for, and reports what they have.",
  flags: {
    nodeName: flag(text("NAME"), { required: true, env: "NODE_NAME", help: "The node that this process runs on." }),
    hostRoot: flag(text("DIR"), {
      default: "/host",
      env: "HOST_ROOT",
      help: "Where the host's file system is mounted.",
    }),
    maxPfs: flag(integer({ minimum: 1, maximum: 64 }), {
      default: "4",
      env: "MAX_PFS",
      help: "PFs worked on at once; UV_THREADPOOL_SIZE, unless set, follows it.",
    }),
    podName: flag(text("NAME"), { env: "POD_NAME", help: "The pod that this process runs in." }),
    useExternalDrainer: flag(yesOrNo, {
      default: "false",
      env: "USE_EXTERNAL_DRAINER",
      help: "Leave draining to somebody else.",
    }),
    apiServerFrom: flag(text("FILE"), {
      env: "API_SERVER_FROM",
      help: "Kubeconfig of the kubelet: in a pod, the API server that it names is used, not the cluster's service address.",
    }),
  },
  async main({ flags, log, setLogLevel, metrics, signal, setNotReady, setNotAlive }) {
    const { hostRoot, nodeName, namespace, maxPfs, useExternalDrainer, maxCacheAge: maxCacheAgeMs } = flags;
    const { maxHanging } = sizeThreadPool(maxPfs);
    const { kubeconfig, apiServerFrom } = flags;
    const apiServer = apiServerFrom === undefined ? undefined : await readKubeletApiServer(apiServerFrom);
    if (apiServerFrom !== undefined && apiServer === undefined) {
      log.warn({ path: apiServerFrom }, "no API server found in the kubelet's kubeconfig; using the service address");
    }
    await using transport = await connect({ kubeconfig, env: { ...process.env, ...apiServer } });
    const condition = createLockCondition({ transport, nodeName, namespace, now: () => new Date() });
    await using _lock = await takeLock({ hostRoot, podName: flags.podName, condition, log, setNotReady, signal });
    await using host = createLinuxHost(hostRoot, {
      onUnreadableRecord: (file) => {
        log.warn({ ...file }, "not a PF record; left alone");
      },
    });
    const onVerbosity = (verbosity: number | undefined): void => {
      setLogLevel(levelOfVerbosity(verbosity, flags.logLevel));
    };
    await runDaemon({
      ...{ transport, host, nodeName, namespace, maxPfs, maxHanging, useExternalDrainer, maxCacheAgeMs },
      ...{ log, metrics, onVerbosity, setNotReady, setNotAlive, signal },
    });
  },
});

// Whatever is still open, an idle connection or a watch of the kernel, is nothing to wait for.
process.exit(exitCode);
