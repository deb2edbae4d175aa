// SPDX-License-Identifier: Apache-2.0
/**
 * The SmartNIC configurator: makes the nodes that SriovOperatorConfig.spec.ovnHardwareOffload selects hosts whose OVN runs on
 * their SmartNIC, and restores them. main.ts is its process.
 */
import { sriovOperatorConfigs, type SriovOperatorConfig } from "@switchyard/api";
import {
  createEventRecorder,
  createServerTime,
  createWriter,
  fromCache,
  runWhenLeading,
  startController,
  type Transport,
} from "@switchyard/kube";
import { defaultOffloadNetwork } from "@switchyard/render";
import { cacheProblems, flag, Gauge, runService, showCacheAges, text, whenAborted, yesOrNo } from "@switchyard/service";
import { connectToCluster, createFailureLog } from "@switchyard/service/cluster";
import { releaseMemoryAfter } from "@switchyard/service/memory";
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { watchOffload } from "./caches/offload-caches.ts";
import { createExecutor } from "./execute-write.ts";
import { fieldManagers } from "./field-managers.ts";
import { createForeignMachineConfigs } from "./foreign-machine-configs.ts";
import { createLostObjects } from "./lost-objects.ts";
import { createOffloadReconciler } from "./offload-reconciler.ts";
import { createOffloadStatusWriter } from "./offload-status-writer.ts";
import { createPodChecks } from "./pods/pod-checks.ts";

/** Flags of ovn-offload, beside those that all services have. */
const ovnOffloadFlags = {
  leaderElect: flag(yesOrNo, {
    default: "true",
    env: "LEADER_ELECT",
    help: "Write only while holding the Lease switchyard-ovn-offload. Required for more than one replica.",
  }),
  resourcePrefix: flag(text("PREFIX"), {
    default: "openshift.io",
    env: "RESOURCE_PREFIX",
    help: "Prefix of resource names, the part before the slash.",
  }),
  ovnNamespace: flag(text("NAMESPACE"), {
    default: "ovn-kubernetes",
    env: "OVN_NAMESPACE",
    help: "Namespace of OVN-Kubernetes in clusters other than OpenShift.",
  }),
  networkNamespace: flag(text("NAMESPACE"), {
    default: defaultOffloadNetwork.namespace,
    env: "NETWORK_NAMESPACE",
    help: "Namespace of the NetworkAttachmentDefinition by which pods get a VF as their default interface.",
  }),
  networkName: flag(text("NAME"), {
    default: defaultOffloadNetwork.name,
    env: "NETWORK_NAME",
    help: "Its name. If the SmartNICs have several resources, those of the others have NAME-RESOURCE.",
  }),
};

const lease = "switchyard-ovn-offload";

/** Nothing is decided with older data. */
const maxCacheAgeMs = 120_000;

/** Time after a write until its garbage is collected, with that of the writes in between: a thousand writes take some seconds. */
const garbageMs = 500;

/** Number of hosts that a line of the log names. */
const maxLogged = 20;

/** Runs until SIGTERM, and returns the exit code of the process. */
export function runOvnOffload(): Promise<number> {
  return runService({
    name: "ovn-offload",
    summary:
      "Runs OVN of the selected hosts on their SmartNICs: labels, policies, MachineConfigs, ConfigMaps and DNS placement.",
    flags: ovnOffloadFlags,
    async main({ flags, log: processLog, metrics, scrapes, signal, setNotReady }) {
      const { namespace, ovnNamespace, resourcePrefix } = flags;
      const network = { namespace: flags.networkNamespace, name: flags.networkName };
      const { kubeconfig } = flags;
      await using cluster = await connectToCluster({ kubeconfig, log: processLog, metrics, scrapes });
      const { log } = cluster;
      const serverTime = createServerTime();
      const connection = serverTime.follow(cluster.transport);
      const now = () => new Date(serverTime.nowMs());
      const failed = createFailureLog(log);
      await using caches = watchOffload({
        transport: connection,
        namespace,
        ovnNamespace,
        networkNamespace: network.namespace,
        report(error, { resource, ageMs }) {
          failed({ resource, ageMs, error }, "watch failed; retrying");
        },
      });
      const { [Symbol.asyncDispose]: _, ...named } = caches;
      const watched = Object.values(named);
      setNotReady(() => [...cluster.problems(), ...cacheProblems(watched, maxCacheAgeMs)]);
      showCacheAges(metrics, () => watched);
      const leading = new Gauge({
        name: "switchyard_leading",
        help: "1 on the replica that holds the Lease, else 0. The operator and ovn-offload each have a Lease.",
        labelNames: ["lease"],
        registers: [metrics],
      });
      leading.set({ lease }, 0);

      async function lead(leader: Transport, leadership: AbortSignal): Promise<void> {
        const transport = reportWrites(leader, releaseMemoryAfter(garbageMs));
        leading.set({ lease }, 1);
        log.info("started leading");
        const foreign = createForeignMachineConfigs(transport);
        const pods = createPodChecks({
          transport,
          now,
          report(error, node) {
            log.warn({ node, error }, "pods of a host could not be listed; retrying");
          },
        });
        const settings = { namespace, ovnNamespace, resourcePrefix, network };
        await using events = createEventRecorder({
          transport,
          controller: "switchyard-ovn-offload",
          instance: hostname(),
          now,
          report(error) {
            log.warn({ error }, "event could not be sent; dropped");
          },
        });
        await using _controller = startController({
          name: "ovn-offload",
          reconcile: createOffloadReconciler({
            caches,
            settings,
            foreign,
            lost: createLostObjects({ caches, namespace, events }),
            pods,
            execute: createExecutor({ transport, caches, namespace, foreign }),
            writeStatus: createOffloadStatusWriter({
              caches,
              namespace,
              events,
              now,
              reportKept(nodes) {
                const hosts = { count: nodes.length, nodes: nodes.slice(0, maxLogged) };
                log.warn(hosts, "SriovOperatorConfig default does not exist; hosts stay as they are");
              },
              writer: createWriter<SriovOperatorConfig>({
                transport,
                type: sriovOperatorConfigs,
                namespace,
                manager: fieldManagers.status,
                cache: caches.operatorConfigs,
              }),
            }),
          }),
          sources: watched.map((cache) => fromCache<unknown>(cache, () => ["all"])),
          caches: watched,
          signal: leadership,
          debounceMs: 300,
          maxDebounceMs: 1_000,
          freshness: {
            caches: watched,
            maxAgeMs: maxCacheAgeMs,
            onStale(stale) {
              const resources = [...new Set(stale.map(({ resource }) => resource))];
              log.warn({ resources }, "caches are stale; waiting for the API server");
            },
          },
          report(error, { failures, isKnown }) {
            log[isKnown ? "debug" : "warn"]({ failures, error }, "reconcile failed; retrying");
          },
        });
        await whenAborted(leadership);
        leading.set({ lease }, 0);
      }

      if (!flags.leaderElect) {
        await lead(connection, signal);
        return;
      }
      await runWhenLeading({
        transport: connection,
        signal,
        lease: { namespace, name: lease },
        identity: `${hostname()}_${randomUUID()}`,
        onLeading: (leadership) => lead(leadership.transport, leadership.signal),
        report(error) {
          failed({ error }, "lease request failed; retrying");
        },
      });
    },
  });
}

/**
 * reportWrites makes a transport that tells when a write has ended.
 * `onWrite` is called after each write, also a refused one. Disposing the transport does not dispose `transport`.
 */
function reportWrites(transport: Transport, onWrite: () => void): Transport {
  return {
    namespace: transport.namespace,
    serverHost: transport.serverHost,
    async request(request) {
      try {
        return await transport.request(request);
      } finally {
        if (request.method !== "GET") onWrite();
      }
    },
    watch: (request) => transport.watch(request),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
