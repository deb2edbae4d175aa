// SPDX-License-Identifier: Apache-2.0
/**
 * The admission webhook's process: watches the cluster, and answers the API server's reviews.
 */
import { connect } from "@switchyard/kube";
import { Counter, durationMs, flag, Histogram, listenAddress, runService, text, yesOrNo } from "@switchyard/service";
import { once } from "node:events";
import { watchCluster } from "./caches.ts";
import { followKeyPair, type KeyPair } from "./key-pair.ts";
import { createLiveView } from "./live-view.ts";
import { startReviewServer, type ReviewServer } from "./review-server.ts";
import { isReviewedKind } from "./shapes.ts";
import { cipherSuites, curvePreferences, tlsVersion, toTlsOptions } from "./tls-settings.ts";

/** How soon replaced certificates are seen. */
const keyPairIntervalMs = 2000;

/** The rest of the 10 s in which a process ends is for what is under way. */
const longestLingerMs = 5000;

process.exitCode = await runService({
  name: "webhook",
  version: "0.1.0",
  summary: "Fills in defaults, refuses what cannot work, and warns of what a change will disturb.",
  flags: {
    listenAddress: flag(listenAddress, {
      default: ":6443",
      env: "LISTEN_ADDRESS",
      help: "Where the API server asks, over HTTPS.",
    }),
    tlsCertFile: flag(text("FILE"), {
      default: "/etc/tls/tls.crt",
      env: "TLS_CERT_FILE",
      help: "Certificate in PEM, read again when it changes.",
    }),
    tlsPrivateKeyFile: flag(text("FILE"), {
      default: "/etc/tls/tls.key",
      env: "TLS_PRIVATE_KEY_FILE",
      help: "Its private key in PEM.",
    }),
    tlsMinVersion: flag(tlsVersion, {
      default: "VersionTLS12",
      env: "TLS_MIN_VERSION",
      help: "Least version of TLS.",
    }),
    tlsCipherSuites: flag(cipherSuites, {
      env: "TLS_CIPHER_SUITES",
      help: "Cipher suites by their IANA or OpenSSL names; those that are not secure are left out.",
    }),
    tlsCurvePreferences: flag(curvePreferences, {
      env: "TLS_CURVE_PREFERENCES",
      help: "Curves of the key exchange, the preferred one first.",
    }),
    devMode: flag(yesOrNo, {
      default: "false",
      env: "DEV_MODE",
      help: "Say nothing of network cards that are not listed as supported.",
    }),
    shutdownDelay: flag(durationMs, {
      default: "3s",
      env: "SHUTDOWN_DELAY",
      help: "How long reviews are still taken when the process ends, while the Service leads here; at most 5s.",
    }),
  },
  async main({ flags, log, metrics: registry, signal, setNotReady }) {
    const { namespace, devMode, tlsMinVersion: minVersion, tlsCipherSuites: ciphers } = flags;
    if (ciphers !== undefined && ciphers.dropped.length > 0) {
      log.warn({ dropped: ciphers.dropped }, "cipher suites that are not secure are left out");
    }
    if (flags.listenAddress === "off") throw new RangeError("--listen-address 0: without it there is nothing to do");
    await using transport = await connect({ kubeconfig: flags.kubeconfig });
    const report = (error: unknown): void => {
      log.warn({ error }, "watch failed, will be taken up again");
    };
    await using caches = watchCluster({ transport, namespace, report });
    const { [Symbol.asyncDispose]: _dispose, ...watched } = caches;
    const notSynced = (): readonly string[] =>
      Object.entries(watched).flatMap(([name, { synced }]) => (synced ? [] : [`${name} not synced`]));

    const running: { server?: ReviewServer } = {};
    let latest: KeyPair | undefined;
    setNotReady(() => [...notSynced(), ...(running.server === undefined ? ["no certificate yet"] : [])]);
    const registers = [registry];
    const reviews = new Counter({
      name: "switchyard_admission_reviews_total",
      help: "Reviews that were answered.",
      labelNames: ["kind", "operation", "allowed"],
      registers,
    });
    const seconds = new Histogram({
      name: "switchyard_admission_review_seconds",
      help: "Time for an answer, without the network.",
      buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3],
      registers,
    });

    const tls = toTlsOptions({ minVersion, ciphers, curves: flags.tlsCurvePreferences });
    await using keyPair = followKeyPair({
      files: { certFile: flags.tlsCertFile, keyFile: flags.tlsPrivateKeyFile },
      intervalMs: keyPairIntervalMs,
      onChange(pair) {
        latest = pair;
        running.server?.setKeyPair(pair);
        if (running.server !== undefined) log.info("certificate replaced");
      },
      report(error) {
        log.warn({ error }, "no new certificate");
      },
    });
    const ended = once(signal, "abort");
    const first = await Promise.race([keyPair.first, ended.then(() => undefined)]);
    if (first === undefined) return;
    await using started = await startReviewServer({
      ...{ address: flags.listenAddress, tls, keyPair: first, notReady: notSynced, log },
      view: createLiveView(watched, { namespace, devMode }),
      nowMs: () => performance.now(),
      onAnswer(request, { allowed, problems = [] }, tookMs) {
        const { kind, operation, name, dryRun, userName } = request;
        reviews.inc({ kind: isReviewedKind(kind) ? kind : "other", operation, allowed: String(allowed) });
        seconds.observe(tookMs / 1000);
        if (!allowed) log.info({ kind, namespace: request.namespace, name, operation, dryRun, problems }, "refused");
        log.debug({ kind, name, operation, userName, allowed, tookMs }, "reviewed");
      },
      lingerMs: Math.min(flags.shutdownDelay, longestLingerMs),
    });
    running.server = started;
    started.setKeyPair(latest ?? first); // it may have changed meanwhile
    log.info({ port: started.port }, "answering reviews");
    if (!signal.aborted) await ended;
  },
});
