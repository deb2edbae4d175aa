// SPDX-License-Identifier: Apache-2.0
/**
 * The life of a process: flags, log, probes, metrics, signals, exit code.
 * Usage, all of a main.ts: `process.exit(await runService({ name: "operator", version, summary, flags, main }))`.
 */
import { commonFlags, type CommonValues } from "./common-flags.ts";
import { readArguments, readValues, type AnyFlags, type AskedOtherwise, type FlagsOf } from "./flags.ts";
import { renderHelp } from "./help.ts";
import { createLogger, type Logger, type LogLevel } from "./logger.ts";
import { createMetrics } from "./metrics.ts";
import { startProbes, type NotReady } from "./probes.ts";
import type { Registry } from "./prom-client.cjs";
import { keepHeapSmall } from "./memory.ts";
import { watchForEnd } from "./watch-for-end.ts";

/** A process, described. */
export interface Service<Own extends object> {
  readonly name: string;
  readonly version: string;
  /** One line for --help: what the process is for. */
  readonly summary: string;
  /** Flags beside commonFlags. */
  readonly flags: FlagsOf<Own>;
  /**
   * The work. Once `signal` aborts it takes no new work, finishes what it has in hand and returns; rejecting with the
   * signal's reason is as good. Returning before is the end of a process that has done its job.
   */
  readonly main: (context: ServiceContext<Own>) => Promise<void>;
}

/** What `main` is given. */
export interface ServiceContext<Own extends object> {
  readonly flags: CommonValues & Own;
  readonly log: Logger;
  readonly setLogLevel: (level: LogLevel) => void;
  readonly metrics: Registry;
  /** Aborts at SIGTERM or SIGINT. */
  readonly signal: AbortSignal;
  /** Sets what /readyz asks. Until then the service is not ready. */
  readonly setNotReady: (check: NotReady) => void;
  /** Sets what /healthz asks: why the process has to be started again. Until then, that it answers is enough. */
  readonly setNotAlive: (check: NotReady) => void;
}

/** EX_USAGE of sysexits.h: an unknown flag, a bad value. */
const exitUsage = 64;

/** Runs a service and resolves with its exit code. Never rejects; what went wrong is the last line of the log. */
export async function runService<Own extends object>(
  service: Service<Own>,
  from: Pick<NodeJS.Process, "argv" | "env"> = process,
): Promise<number> {
  keepHeapSmall();
  const all = { ...commonFlags, ...service.flags };
  const given = readArguments(all, from.argv.slice(2));
  if (given.asked !== "run") return answerOtherwise(service, all, given);
  const common = readValues(commonFlags, given.texts, from.env);
  if (common.asked !== "run") return answerOtherwise(service, all, common);
  const own = readValues(service.flags, given.texts, from.env);
  if (own.asked !== "run") return answerOtherwise(service, all, own);
  return live(service, { ...common.values, ...own.values });
}

async function live<Own extends object>(service: Service<Own>, flags: CommonValues & Own): Promise<number> {
  const { log, setLevel } = createLogger({ service: service.name, level: flags.logLevel });
  const metrics = createMetrics(service);
  using end = watchForEnd(log);
  const { signal } = end;

  async function work(): Promise<number> {
    try {
      let notReady: NotReady = () => ["starting"];
      let notAlive: NotReady = () => [];
      await using probes = await startProbes({
        ...flags,
        metrics,
        notReady: () => (signal.aborted ? ["stopping"] : notReady()),
        notAlive: () => notAlive(),
      });
      const { healthPort, metricsPort } = probes;
      log.info({ version: service.version, node: process.version, healthPort, metricsPort }, "started");
      const setNotReady = (check: NotReady): void => {
        notReady = check;
      };
      const setNotAlive = (check: NotReady): void => {
        notAlive = check;
      };
      await service.main({ flags, log, setLogLevel: setLevel, metrics, signal, setNotReady, setNotAlive });
    } catch (error) {
      if (!isAbort(error, signal)) {
        log.error({ error }, "failed");
        return 1;
      }
    }
    log.info("ended");
    return 0;
  }
  return await Promise.race([work(), end.forced.then(() => 1)]);
}

function answerOtherwise(
  about: { readonly name: string; readonly version: string; readonly summary: string },
  flags: AnyFlags,
  given: AskedOtherwise,
): number {
  if (given.asked === "nothing") {
    process.stderr.write(`${about.name}: ${given.problem.message}\n`);
    return exitUsage;
  }
  const { name, version, summary } = about;
  process.stdout.write(given.asked === "help" ? renderHelp({ name, summary, flags }) : `${name} ${version}\n`);
  return 0;
}

/** Whether an error is but the echo of a signal: its reason, or how Node's own functions say that they were aborted. */
function isAbort(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false;
  if (error === signal.reason) return true;
  return typeof error === "object" && error !== null && "code" in error && error.code === "ABORT_ERR";
}
