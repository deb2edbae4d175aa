// SPDX-License-Identifier: Apache-2.0
/**
 * The admission webhook's process: watches the cluster, and answers the API server's reviews.
 */
import { operatorConfigName } from "@switchyard/api";
import type { KeyPair } from "@switchyard/certificates";
import { connect, isKubeError, type FailedWatch } from "@switchyard/kube";
import {
  cacheProblems,
  compileLittle,
  levelOfVerbosity,
  runService,
  showCacheAges,
  type Logger,
} from "@switchyard/service";
import { once } from "node:events";
import { watchCluster } from "./caches.ts";
import { followKeyPair } from "./key-pair.ts";
import { createLiveView } from "./live-view.ts";
import { watchPodUsers } from "./pod-users.ts";
import { startReviewServer, type ReviewServer } from "./review-server.ts";
import { toTlsOptions } from "./tls-settings.ts";
import { webhookFlags } from "./webhook-flags.ts";
import { createWebhookMetrics } from "./webhook-metrics.ts";

/** How soon replaced files are seen. */
const keyPairIntervalMs = 2000;

/** The rest of the 10 s in which a process ends is for what is under way. */
const longestLingerMs = 5000;

compileLittle();
process.exitCode = await runService({
  name: "webhook",
  version: "0.1.0",
  summary: "Fills in defaults, refuses what cannot work, and warns of what a change will disturb.",
  flags: webhookFlags,
  async main({ flags, log, setLogLevel, metrics: registry, signal, setNotReady }) {
    const { namespace, devMode, tlsMinVersion: minVersion, tlsCipherSuites: ciphers } = flags;
    if (ciphers !== undefined && ciphers.dropped.length > 0) {
      log.warn({ dropped: ciphers.dropped }, "cipher suites that are not secure are left out");
    }
    await using transport = await connect({ kubeconfig: flags.kubeconfig });
    const report = (error: unknown, { resource, ageMs }: FailedWatch): void => {
      log.warn({ resource, ageMs, error }, "watch failed; retrying");
    };
    await using caches = watchCluster({ transport, namespace, report });
    caches.operatorConfigs.subscribe(({ key, after }) => {
      if (key === operatorConfigName) setLogLevel(levelOfVerbosity(after?.spec?.logLevel, flags.logLevel));
    });
    const { [Symbol.asyncDispose]: _, ...watched } = caches;
    const needed = Object.values(watched);
    /** By what is out of date, verdicts are still better than none: that alone refuses no review. */
    const notSynced = () => cacheProblems(needed, Infinity);
    const staleOrNotSynced = () => cacheProblems(needed, flags.maxCacheAge);
    const synced = Promise.allSettled(needed.map((cache) => cache.whenSynced(signal)));
    await using pods = flags.countPods
      ? watchPodUsers({
          ...{ transport, resourcePrefix: flags.resourcePrefix, states: caches.states },
          ...{ after: synced, report: reportPods(log) },
        })
      : undefined;
    const metrics = createWebhookMetrics(registry);
    showCacheAges(registry, () => [...needed, ...(pods === undefined ? [] : [pods])]);

    const running: { server?: ReviewServer; pair?: KeyPair } = {};
    setNotReady(() => [...staleOrNotSynced(), ...(running.server === undefined ? ["no certificate yet"] : [])]);
    function onChange(pair: KeyPair): void {
      running.pair = pair;
      running.server?.setKeyPair(pair);
      if (running.server !== undefined) log.info("certificate replaced");
    }
    await using keyPair = followKeyPair({
      files: { certFile: flags.tlsCertFile, keyFile: flags.tlsPrivateKeyFile },
      intervalMs: keyPairIntervalMs,
      onChange,
      report(error) {
        log.warn({ error }, "no new certificate");
      },
    });
    const ended = signal.aborted ? Promise.resolve() : once(signal, "abort");
    const first = await Promise.race([keyPair.first, ended.then(() => undefined)]);
    if (first === undefined) return;

    await using server = await startReviewServer({
      address: flags.listenAddress,
      tls: toTlsOptions({ minVersion, ciphers, curves: flags.tlsCurvePreferences }),
      keyPair: first,
      view: createLiveView(watched, { namespace, devMode, pods }),
      notReady: staleOrNotSynced,
      cannotReview: notSynced,
      log,
      nowMs: () => performance.now(),
      onAnswer(request, answer, tookMs) {
        const { kind, operation, name, dryRun, userName } = request;
        const about = { kind, namespace: request.namespace, name, operation, dryRun };
        const { allowed, problems } = answer;
        metrics.answered(request, answer, tookMs);
        if (!allowed) log.info({ ...about, problems }, "refused");
        log.debug({ ...about, userName, allowed, tookMs }, "reviewed");
      },
      lingerMs: Math.min(flags.shutdownDelay, longestLingerMs),
    });
    running.server = server;
    server.setKeyPair(running.pair ?? first); // it may have changed meanwhile
    log.info({ port: server.port }, "answering reviews");
    await ended;
  },
});

/** Without the right to read pods all else works: said once, not each time that it is tried again. */
function reportPods(log: Logger): (error: unknown, at: FailedWatch) => void {
  let isTold = false;
  return (error, { resource, ageMs }) => {
    const level = isTold && isKubeError(error, "Forbidden") ? "debug" : "warn";
    isTold ||= isKubeError(error, "Forbidden");
    log[level]({ resource, ageMs, error }, "pods cannot be watched, so warnings do not count them; retrying");
  };
}
