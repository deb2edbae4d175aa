// SPDX-License-Identifier: Apache-2.0
/**
 * runService runs a service from its start to its exit code: it provides flags, log, probes, metrics and signal handling.
 * Usage: `process.exit(await runService({ name: "operator", summary, flags, main }))`.
 */
import { exitUsage } from "./flags/exit-usage.ts";
import { commonFlags, type CommonValues } from "./flags/common-flags.ts";
import { readArguments, readValues, type AnyFlags, type FlagsOf, type NoRun } from "./flags/flags.ts";
import { renderHelp } from "./flags/help.ts";
import { createLogger, type Logger, type LogLevel } from "./logger.ts";
import { createMetrics } from "./metrics.ts";
import { startProbes, type NotReady } from "./probes.ts";
import type { Registry } from "./prom-client.cjs";
import { keepHeapSmall } from "./memory.ts";
import { createScrapeGate, type ScrapeGate } from "./scrape-gate.ts";
import { productVersion } from "./version.gen.ts";
import { watchForEnd } from "./watch-for-end.ts";

/** Description of a service. */
export interface Service<Own extends object> {
  readonly name: string;
  /** Purpose of the process for --help: one sentence. */
  readonly summary: string;
  /** Commands of the same program, for --help: their purposes by their words, such as "crds apply". */
  readonly commands?: Readonly<Record<string, string>>;
  /** Flags in addition to commonFlags. */
  readonly flags: FlagsOf<Own>;
  /**
   * Does the work of the service. When `signal` aborts, it must start no new work, finish the current step, and return or
   * reject with the signal's reason. A service that returns earlier has done its job and exits with 0.
   */
  readonly main: (context: ServiceContext<Own>) => Promise<void>;
}

/** Arguments of `main`. */
export interface ServiceContext<Own extends object> {
  readonly flags: CommonValues & Own;
  readonly log: Logger;
  readonly setLogLevel: (level: LogLevel) => void;
  readonly metrics: Registry;
  /** Decides who may read the metrics, with --metrics-secure. */
  readonly scrapes: ScrapeGate;
  /** Aborts at SIGTERM or SIGINT. */
  readonly signal: AbortSignal;
  /** Sets the check behind /readyz. Before the first call the service is not ready. */
  readonly setNotReady: (check: NotReady) => void;
  /** Sets the check behind /healthz. Before the first call /healthz always succeeds. */
  readonly setNotAlive: (check: NotReady) => void;
}

/** Runs a service and resolves with its exit code. Never rejects; an error is logged in the last line. */
export async function runService<Own extends object>(
  service: Service<Own>,
  from: Pick<NodeJS.Process, "argv" | "env"> = process,
): Promise<number> {
  keepHeapSmall();
  const all = { ...commonFlags, ...service.flags };
  const given = readArguments(all, from.argv.slice(2));
  if (given.kind !== "run") return printInstead(service, all, given);
  const common = readValues(commonFlags, given.texts, from.env);
  if (common.kind !== "run") return printInstead(service, all, common);
  const own = readValues(service.flags, given.texts, from.env);
  if (own.kind !== "run") return printInstead(service, all, own);
  return runParsed(service, { ...common.values, ...own.values });
}

async function runParsed<Own extends object>(service: Service<Own>, flags: CommonValues & Own): Promise<number> {
  const { log, setLevel } = createLogger({ service: service.name, level: flags.logLevel });
  const metrics = createMetrics({ name: service.name, version: productVersion });
  using end = watchForEnd(log);
  const { signal } = end;

  async function work(): Promise<number> {
    try {
      let notReady: NotReady = () => ["starting"];
      let notAlive: NotReady = () => [];
      const scrapes = createScrapeGate();
      await using probes = await startProbes({
        ...flags,
        name: service.name,
        reviewScrape: flags.metricsSecure ? scrapes.review : undefined,
        metrics,
        notReady: () => (signal.aborted ? ["stopping"] : notReady()),
        notAlive: () => notAlive(),
      });
      const { healthPort, metricsPort } = probes;
      log.info({ version: productVersion, node: process.version, healthPort, metricsPort }, "started");
      const setNotReady = (check: NotReady): void => {
        notReady = check;
      };
      const setNotAlive = (check: NotReady): void => {
        notAlive = check;
      };
      await service.main({ flags, log, setLogLevel: setLevel, metrics, scrapes, signal, setNotReady, setNotAlive });
    } catch (error) {
      if (!isAbort(error, signal)) {
        log.error({ error }, "service failed");
        return 1;
      }
    }
    log.info("stopped");
    return 0;
  }
  return await Promise.race([work(), end.forced.then(() => 1)]);
}

/** Prints the help, the version or the problem with the command line. Returns the exit code. */
function printInstead(
  about: Pick<Service<object>, "name" | "summary" | "commands">,
  flags: AnyFlags,
  given: NoRun,
): number {
  if (given.kind === "invalid") {
    process.stderr.write(`${about.name}: ${given.problem.message}\n`);
    return exitUsage;
  }
  const { name, summary, commands } = about;
  process.stdout.write(
    given.kind === "help" ? renderHelp({ name, summary, flags, commands }) : `${name} ${productVersion}\n`,
  );
  return 0;
}

/** Reports whether `error` only says that `signal` aborted: it is the reason, or the AbortError of a Node function. */
function isAbort(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false;
  if (error === signal.reason) return true;
  return typeof error === "object" && error !== null && "code" in error && error.code === "ABORT_ERR";
}
