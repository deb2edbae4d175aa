// SPDX-License-Identifier: Apache-2.0
/**
 * The operator's service watches the cluster and runs the controllers while it holds the Lease. main.ts is its process.
 */
import { operatorConfigName } from "@switchyard/api";
import { createServerTime, runWhenLeading, type FailedWatch, type Transport } from "@switchyard/kube";
import { cacheProblems, levelOfVerbosity, runService, type Service } from "@switchyard/service";
import { connectToCluster, createFailureLog } from "@switchyard/service/cluster";
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { watchCluster } from "./cluster-caches.ts";
import { startControllers } from "./controllers.ts";
import { watchTakeOver } from "./facts/config-take-over.ts";
import { createRestoreReports } from "./reports/restore-reports.ts";
import { crdsRemedy, watchSchemas } from "./schemas/schema-watch.ts";
import { requireKubernetes } from "./start/require-kubernetes.ts";
import { deferTransport } from "./start/deferred-transport.ts";
import { operatorFlags, type OperatorFlagValues } from "./start/operator-flags.ts";
import { createOperatorMetrics, operatorLease } from "./metrics/operator-metrics.ts";
import { readOperatorSettings } from "./start/operator-settings.ts";
import { fromUpstreamFlags } from "./start/upstream-flags.ts";

const { argv, ignored } = fromUpstreamFlags(process.argv);
const operator: Service<OperatorFlagValues> = {
  name: "operator",
  summary:
    "Runs the cluster controllers: merges policies into one SriovNetworkNodeState per node, deploys the components, " +
    "drains nodes and reports progress as conditions.",
  commands: {
    "crds apply": "Installs or upgrades Switchyard's CustomResourceDefinitions.",
    "crds delete": "Deletes Switchyard's CustomResourceDefinitions with all their objects.",
    check: "Waits until a replica leads and the SriovOperatorConfig is Ready.",
    adopt: "Prepares a release of the SR-IOV network operator's chart for its upgrade to Switchyard's chart.",
    uninstall: "Deletes the SriovOperatorConfig and waits until the operator has removed what it deployed.",
  },
  flags: operatorFlags,
  async main({ flags, log: processLog, setLogLevel, metrics: registry, scrapes, signal, setNotReady }) {
    if (ignored.length > 0)
      processLog.warn({ flags: ignored }, "flags of upstream's logger are ignored; use --log-level");
    const settings = readOperatorSettings(flags);
    const { namespace } = settings;
    const identity = `${hostname()}_${randomUUID()}`;
    const { kubeconfig } = flags;
    await using connection = await connectToCluster({ kubeconfig, log: processLog, metrics: registry, scrapes });
    const { log } = connection;
    const serverTime = createServerTime();
    const transport = serverTime.follow(connection.transport);
    setNotReady(() => ["the Kubernetes version of the API server is not known yet"]);
    await requireKubernetes({ transport, log, signal });
    const failed = createFailureLog(log);
    const report = (error: unknown, { resource, ageMs }: FailedWatch): void => {
      failed({ resource, ageMs, error }, "watch failed; retrying");
    };
    const deferred = deferTransport(transport, signal);
    await using caches = watchCluster({ transport, deferred: deferred.transport, namespace, settings, report });
    let logLevel = flags.logLevel;
    caches.operatorConfigs.subscribe(({ key, after }) => {
      if (key !== operatorConfigName) return;
      const next = levelOfVerbosity(after?.spec?.logLevel, flags.logLevel);
      if (next === logLevel) return;
      // On the side of the change where lines of level info appear.
      const announce = () => {
        log.info({ from: logLevel, to: next }, "log level of the SriovOperatorConfig is applied");
      };
      if (next === "warn" || next === "error") announce();
      setLogLevel(next);
      if (next !== "warn" && next !== "error") announce();
      logLevel = next;
    });
    const { [Symbol.asyncDispose]: _, ...watched } = caches;
    const metrics = createOperatorMetrics(registry, caches, Object.values(watched), serverTime.nowMs);
    const schemas = watchSchemas({ transport, log, signal });
    metrics.watchSchemas(schemas);
    const takeOver = watchTakeOver(caches.operatorConfigs);
    setNotReady(() => [
      ...takeOver(),
      ...(schemas.problems().length > 0 ? [...schemas.problems(), crdsRemedy] : []),
      ...connection.problems(),
      ...cacheProblems(Object.values(watched), settings.maxCacheAgeMs),
    ]);

    const restores = createRestoreReports({ caches: Object.values(watched), log });

    async function lead(client: Transport, leading: AbortSignal): Promise<void> {
      log.info("started leading");
      while (!leading.aborted) await leadWithCurrentCrds(client, leading);
      metrics.setLeading(false);
    }

    /** Runs the controllers while the CRDs have all fields that they write. */
    async function leadWithCurrentCrds(client: Transport, leading: AbortSignal): Promise<void> {
      metrics.setLeading(false); // forgets the controllers of the previous call
      metrics.setLeading(true);
      await unlessAborted(schemas.whenCurrent(leading), leading);
      if (leading.aborted) return;
      const outdated = new AbortController();
      await using _controllers = startControllers({
        transport: client,
        settings,
        instance: hostname(),
        caches,
        log,
        nowMs: serverTime.nowMs,
        metrics,
        onNodeStatesWritten: deferred.release,
        restores,
        signal: AbortSignal.any([leading, outdated.signal]),
      });
      await unlessAborted(schemas.whenOutdated(leading), leading);
      outdated.abort(new Error("CustomResourceDefinitions are older than the operator"));
    }

    if (!flags.leaderElect) {
      await lead(transport, signal);
      return;
    }
    await runWhenLeading({
      transport,
      lease: { namespace, name: operatorLease },
      identity,
      signal,
      onRewind: restores.onRewind,
      onLeading: (leadership) => lead(leadership.transport, leadership.signal),
      report: (error) => {
        failed({ error }, "lease request failed; retrying");
      },
    });
  },
};

/** Waits for `work`, which rejects when `signal` aborts. */
async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Runs the operator until SIGTERM, and returns the exit code of the process. */
export function runOperator(): Promise<number> {
  return runService(operator, { argv, env: process.env });
}
