// SPDX-License-Identifier: Apache-2.0
/** The process of the admission webhook. It watches the cluster and answers the API server's admission reviews. */
import { afxdpApiGroup, apiGroup, operatorConfigName } from "@switchyard/api";
import type { KeyPair } from "@switchyard/certificates";
import { isKubeError, type FailedWatch } from "@switchyard/kube";
import {
  cacheProblems,
  disableOptimizer,
  levelOfVerbosity,
  logAbsentKinds,
  runService,
  showCacheAges,
  whenAborted,
  type Logger,
} from "@switchyard/service";
import { connectToCluster, createFailureLog } from "@switchyard/service/cluster";
import type { ReviewRequest } from "./admission-review.ts";
import { watchCluster } from "./cluster-caches.ts";
import { followKeyPair } from "./server/key-pair.ts";
import { createLiveView } from "./live-view.ts";
import { logAnswer } from "./server/log-answer.ts";
import { watchPodUsers } from "./pod-users.ts";
import { followReviewPaths } from "./server/review-paths.ts";
import { startReviewServer, type ReviewServer } from "./server/review-server.ts";
import { toTlsOptions } from "./server/tls-settings.ts";
import { webhookFlags } from "./webhook-flags.ts";
import { createWebhookMetrics } from "./webhook-metrics.ts";

/** Interval at which the certificate files are read. */
const keyPairIntervalMs = 2000;

/** A process must end within 10 s. The rest of the time is for pending reviews. */
const maxLingerMs = 5000;

disableOptimizer();
process.exitCode = await runService({
  name: "webhook",
  summary: "Fills in defaults, refuses objects that cannot work, and warns about the impact of changes on pods.",
  flags: webhookFlags,
  async main({ flags, log: processLog, setLogLevel, metrics: registry, scrapes, signal, setNotReady }) {
    const { namespace, devMode, tlsMinVersion: minVersion, tlsCipherSuites: ciphers } = flags;
    if (ciphers !== undefined && ciphers.dropped.length > 0) {
      processLog.warn({ dropped: ciphers.dropped }, "insecure cipher suites ignored");
    }
    const { kubeconfig } = flags;
    await using connection = await connectToCluster({ kubeconfig, log: processLog, metrics: registry, scrapes });
    const { transport, log } = connection;
    const failed = createFailureLog(log);
    const report = (error: unknown, { resource, ageMs }: FailedWatch): void => {
      failed({ resource, ageMs, error }, "watch failed; retrying");
    };
    await using caches = watchCluster({
      transport,
      namespace,
      report,
      hasMachineConfigPools: flags.clusterType === "openshift",
    });
    caches.operatorConfigs.subscribe(({ key, after }) => {
      if (key === operatorConfigName) setLogLevel(levelOfVerbosity(after?.spec?.logLevel, flags.logLevel));
    });
    const { [Symbol.asyncDispose]: _, ...watched } = caches;
    const { machineConfigPools, ...others } = watched;
    const needed = Object.values(others);
    // Stale caches fail /readyz but not the reviews: an answer by old data is better than none.
    const notSynced = () => cacheProblems(needed, Infinity);
    const sriovKinds = [watched.policies, watched.pools, watched.states, watched.operatorConfigs];
    const afxdpKinds = [watched.afxdpPolicies, watched.afxdpConfigs, watched.afxdpStates];
    // A review of an object shows that its kind is installed: its cache will find that out within seconds.
    const notFoundYet = ({ group }: ReviewRequest) =>
      (group === apiGroup ? sriovKinds : group === afxdpApiGroup ? afxdpKinds : [])
        .filter(({ served }) => !served)
        .flatMap(({ ages }) => ages.map(({ resource }) => `${resource}: cache is not synced`));
    void logAbsentKinds(sriovKinds, {
      log,
      signal,
      effect: "SR-IOV policies, pools and networks are not checked, and no SR-IOV policy counts as using a PF",
    });
    const staleOrNotSynced = () => [...connection.problems(), ...cacheProblems(needed, flags.maxCacheAge)];
    const synced = Promise.allSettled(needed.map((cache) => cache.whenSynced(signal)));
    await using pods = flags.countPods
      ? watchPodUsers({
          transport,
          resourcePrefix: flags.resourcePrefix,
          states: caches.states,
          after: synced,
          report: reportPods(log),
        })
      : undefined;
    const metrics = createWebhookMetrics(registry);
    showCacheAges(registry, () => [
      ...needed,
      ...(machineConfigPools === undefined ? [] : [machineConfigPools]),
      ...(pods === undefined ? [] : [pods]),
    ]);

    const running: { server?: ReviewServer; pair?: KeyPair } = {};
    setNotReady(() => [...staleOrNotSynced(), ...(running.server === undefined ? ["no server certificate yet"] : [])]);
    function onChange(pair: KeyPair): void {
      running.pair = pair;
      metrics.certificate(pair.cert);
      running.server?.setKeyPair(pair);
      if (running.server !== undefined) log.info("server certificate replaced");
    }
    await using keyPair = followKeyPair({
      files: { certFile: flags.tlsCertFile, keyFile: flags.tlsPrivateKeyFile },
      intervalMs: keyPairIntervalMs,
      onChange,
      report(error) {
        log.warn({ error }, "cannot use server certificate files; retrying");
      },
    });
    await using paths = await followReviewPaths({
      file: flags.reviewPathsFile,
      secretPath: flags.reviewPath,
      intervalMs: keyPairIntervalMs,
    });
    const stopped = whenAborted(signal);
    const first = await Promise.race([keyPair.first, stopped.then(() => undefined)]);
    if (first === undefined) return;

    await using server = await startReviewServer({
      address: flags.listenAddress,
      tls: toTlsOptions({ minVersion, ciphers, curves: flags.tlsCurvePreferences }),
      keyPair: first,
      view: createLiveView(watched, { namespace, devMode, pods }),
      notReady: staleOrNotSynced,
      acceptsPath: paths.accepts,
      cannotReview: (request) => [...notSynced(), ...notFoundYet(request)],
      log,
      nowMs: () => performance.now(),
      onAnswer(request, answer, tookMs) {
        metrics.answered(request, answer, tookMs);
        logAnswer(log, { request, answer, tookMs });
      },
      lingerMs: Math.min(flags.shutdownDelay, maxLingerMs),
    });
    running.server = server;
    server.setKeyPair(running.pair ?? first); // a newer pair may have come while the server started
    log.info({ port: server.port }, "serving admission reviews");
    await stopped;
  },
});

/** A webhook without the right to read pods works otherwise, so "Forbidden" is a warning only once. */
function reportPods(log: Logger): (error: unknown, at: FailedWatch) => void {
  let isReported = false;
  return (error, { resource, ageMs }) => {
    const level = isReported && isKubeError(error, "Forbidden") ? "debug" : "warn";
    isReported ||= isKubeError(error, "Forbidden");
    log[level]({ resource, ageMs, error }, "pod watch failed, warnings do not count pods; retrying");
  };
}
