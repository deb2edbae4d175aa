// SPDX-License-Identifier: Apache-2.0
/**
 * serveNode serves the driver to the kubelet, and keeps the ResourceSlices of the node. The two are independent: claims are prepared while
 * the API server's slices cannot be written, and the kubelet can be away while slices are.
 */
import {
  draDriverName,
  nodes,
  resourceClaims,
  resourceSlices,
  sriovNetworkNodeStates,
  type ResourceSlice,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import type { Host } from "@switchyard/host";
import {
  createWriter,
  isKubeObject,
  objectPath,
  startController,
  watchObjects,
  type FailedWatch,
  type KubeObject,
  type Source,
  type Transport,
} from "@switchyard/kube";
import { serveDraPlugin, type ClaimRef, type DraDeviceHealth } from "@switchyard/kubelet";
import { takePluginLock } from "@switchyard/netlink";
import { allocationOf, networksAnnotation } from "@switchyard/policy";
import { cacheProblems, showCacheAges, whenAborted, type Logger, type Registry } from "@switchyard/service";
import { createFailureLog } from "@switchyard/service/cluster";
import { join } from "node:path";
import { serveAttachments, type Attach } from "./attach/serve-attachments.ts";
import { createClaimStatus } from "./claims/claim-status.ts";
import { answerClaims } from "./claims/answer-claims.ts";
import { createClaims } from "./claims/prepare-claims.ts";
import type { DraDriverFlags } from "./dra-driver-flags.ts";
import { createDriverMetrics } from "./driver-metrics.ts";
import { readAllocatedVfs } from "./node/allocated-vfs.ts";
import { createHandOver } from "./node/hand-over.ts";
import { watchKernel } from "./node/watch-kernel.ts";
import { createNodeReconciler } from "./node/node-reconciler.ts";
import { findObstacles } from "./node/find-obstacles.ts";
import { kubeletReader } from "./node/read-kubelet.ts";
import type { StoredSlice } from "./slices/slice-changes.ts";

export interface ServeNodeOptions extends Pick<DraDriverFlags, "nodeName" | "resourcePrefix"> {
  readonly transport: Transport;
  readonly host: Pick<Host, "sriov" | "files" | "modules" | "boot" | "events" | "devlink">;
  readonly kubelet: {
    /** As this process sees it. */
    readonly directory: string;
    /** As the host sees it. */
    readonly onHost: string;
  };
  /** Absent if the driver attaches no VFs to pods. */
  readonly attach?: Attach | undefined;
  /** Namespace of the operator. */
  readonly namespace: string;
  /** If a cache is older than this, in ms, the process is not ready. It continues with the cached objects. */
  readonly maxCacheAge: number;
  readonly log: Logger;
  readonly metrics: Registry;
  readonly setNotReady: (check: () => readonly string[]) => void;
  readonly signal: AbortSignal;
  /** Called once, when the kubelet can call the driver. */
  readonly onStarted?: () => void;
}

/** Must stay the same in all releases. */
const manager = "switchyard-dra-driver";

const noRuntime =
  "the container runtime has not accepted the driver as a plugin (NRI). Enable NRI in the runtime, or let Multus attach the network: " +
  `remove netAttachDefName, and name the network in the annotation ${networksAnnotation} of the pod`;

const lockName = "dra-driver.lock";

/** Waits for the process that ran before, and says so. Two would attach the interfaces of a pod twice. */
async function lockNode(
  path: string,
  { log, setNotReady, signal }: Pick<ServeNodeOptions, "log" | "setNotReady" | "signal">,
): Promise<AsyncDisposable> {
  let reason = "waiting for the lock of this node";
  setNotReady(() => [reason]);
  return takePluginLock(path, {
    program: "the DRA driver",
    signal,
    onWaiting(next) {
      reason = next;
      log.warn({ reason }, "waiting for the lock of the DRA driver");
    },
  });
}

/** Resolves when `signal` has aborted; rejects with its reason if another process of the driver runs on the node until then. */
export async function serveNode(options: ServeNodeOptions): Promise<void> {
  const { transport, host, nodeName, namespace, resourcePrefix, kubelet, log, signal } = options;
  await using _lock = await lockNode(join(kubelet.directory, "plugins", draDriverName, lockName), options);
  const metrics = createDriverMetrics(options.metrics);
  const failed = createFailureLog(log);
  const report = (error: unknown, { resource, ageMs }: FailedWatch): void => {
    failed({ resource, ageMs, error }, "watch failed; retrying");
  };
  await using states = watchObjects({
    ...{ transport, namespace, report },
    type: sriovNetworkNodeStates,
    fieldSelector: `metadata.name=${nodeName}`,
    project: ({ metadata, ...state }: SriovNetworkNodeState): SriovNetworkNodeState => {
      const { managedFields: _fields, ...kept } = metadata as KubeObject["metadata"];
      return { ...state, metadata: kept };
    },
    managers: [manager],
  });
  await using slices = watchObjects({
    ...{ transport, report },
    type: resourceSlices,
    fieldSelector: `spec.nodeName=${nodeName}`,
    project: (slice: ResourceSlice): StoredSlice => slice,
    managers: [manager],
  });
  showCacheAges(options.metrics, () => [states, slices]);
  options.setNotReady(() => cacheProblems([states, slices], options.maxCacheAge));

  const state = () => states.get(nodeName);
  const reader = kubeletReader(join(kubelet.directory, "pod-resources/kubelet.sock"));
  const readState = async (until: AbortSignal): Promise<unknown> =>
    transport.request({
      method: "GET",
      path: objectPath(sriovNetworkNodeStates, { name: nodeName, namespace }),
      signal: until,
    });
  const writeStatus = createClaimStatus({ transport, nodeName, now: () => new Date(), log, signal });
  let isConnected = false;
  const claims = createClaims({
    ...{ nodeName, resourcePrefix, host, state, log },
    metadataDirectory: join(kubelet.onHost, "plugins", draDriverName, "metadata"),
    readClaim: ({ namespace: ofClaim, name }: ClaimRef) =>
      transport.request({ method: "GET", path: objectPath(resourceClaims, { namespace: ofClaim, name }), signal }),
    obstacles: (_claim, addresses) => findObstacles(addresses, { state: state(), kubelet: reader, signal }),
    whyNotAttached: () => (options.attach === undefined || isConnected ? undefined : noRuntime),
    prepared(claim) {
      void writeStatus(claim);
    },
  });
  const answers = answerClaims(claims, { metrics, log });
  let isRegistered = false;
  await using plugin = await serveDraPlugin({
    driver: draDriverName,
    kubeletDirectory: kubelet.directory,
    kubeletDirectoryOnHost: kubelet.onHost,
    ...answers,
    registered(status) {
      isRegistered = status.isRegistered;
      if (isRegistered) log.info({}, "registered with the kubelet");
      else log.error({ error: status.error }, "the kubelet has refused the driver");
    },
  });
  options.onStarted?.();
  const attaching =
    options.attach === undefined
      ? Promise.resolve()
      : serveAttachments({
          ...options.attach,
          ...{ transport, nodeName, files: host.files, records: () => claims.records(), writeStatus, log, signal },
          connected(isNowConnected) {
            isConnected = isNowConnected;
            metrics.connected.set(isConnected ? 1 : 0);
          },
        });
  const handOver = createHandOver({ transport, nodeName, namespace, manager, now: () => new Date() });
  const controller = startController({
    name: "dra-driver",
    reconcile: createNodeReconciler({
      ...{ nodeName, resourcePrefix, host, state, log, kubelet: reader },
      readAllocation: async (until) => allocationOf((await readState(until)) as SriovNetworkNodeState),
      handOver: (until) => handOver.toDevicePlugin(until),
      slices: () => (slices.synced ? slices.list() : undefined),
      async readNodeUid(until) {
        const node = await transport.request({
          method: "GET",
          path: objectPath(nodes, { name: nodeName }),
          signal: until,
        });
        return isKubeObject(node) ? (node.metadata.uid ?? "") : "";
      },
      records: () => claims.records(),
      allocated: (until) => readAllocatedVfs({ transport, nodeName }, until),
      writer: createWriter<ResourceSlice>({ transport, type: resourceSlices, manager, cache: slices }),
      setHealth(devices: readonly DraDeviceHealth[]) {
        plugin.setHealth(devices);
        metrics.published.set(devices.length);
        metrics.unhealthy.set(devices.filter(({ health }) => health === "unhealthy").length);
      },
      report: (seen, until) => handOver.report(seen, state(), until),
      nowMs: () => performance.now(),
    }),
    parallel: 1,
    sources: [sourceOf()],
    signal: AbortSignal.any([]),
    backoff: { baseMs: 200, maxMs: 10_000 },
    report(error, { isKnown }) {
      log[isKnown ? "debug" : "warn"]({ error }, "ResourceSlices not updated; retrying");
    },
  });
  await whenAborted(signal);
  await controller[Symbol.asyncDispose]();
  await attaching;

  function sourceOf(): Source {
    return {
      start(enqueue) {
        const stop = new AbortController();
        const again = (): void => {
          enqueue(nodeName);
        };
        again();
        const ends = [states.subscribe(again), slices.subscribe(again)];
        slices.whenSynced(stop.signal).then(again, () => undefined); // a node without slices causes no event
        void watchKernel(host.events, { changed: again, log }, stop.signal);
        return () => {
          stop.abort();
          for (const end of ends) end();
        };
      },
      whenSynced: (until) => states.whenSynced(until),
    };
  }
}
