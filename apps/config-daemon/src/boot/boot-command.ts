// SPDX-License-Identifier: Apache-2.0
/**
 * runBootCommand runs one of the two phases in which systemd configures the node while it boots, without an API server.
 * The units of libs/api/src/boot-units.ts start it. It always ends, at the latest at its time limit.
 * Usage: `node apps/config-daemon/src/main.ts boot pre`, `node apps/config-daemon/src/main.ts boot post --host-root /`.
 */
import { bootConfigPath, bootPhaseLimitMs } from "@switchyard/api";
import { acquireNodeLock, createLinuxHost } from "@switchyard/host";
import { exitUsage } from "@switchyard/service/exit-usage";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { defaultTiming } from "../deadlines/with-deadline.ts";
import { defaultMaxPfs, sizeThreadPool } from "../start/resources.ts";
import { parseBootConfig } from "../boot-files/boot-config.ts";
import { bootPhases } from "../boot-files/boot-result.ts";
import { runPhase } from "./run-phase.ts";

const usage = `usage: config-daemon boot pre|post [--host-root DIR]\n`;

/** Time for which the phase waits for another process that holds the lock of the node. */
const lockLimitMs = 30_000;

/** Resolves with 0 if the node is configured, 1 if something failed, and 64 for invalid arguments. Never rejects. */
export async function runBootCommand(args: readonly string[]): Promise<number> {
  const [name, option, hostRoot = "/", ...rest] = args;
  const phase = bootPhases.find((each) => each === name);
  if (phase === undefined || rest.length > 0 || (option !== undefined && option !== "--host-root")) {
    process.stderr.write(usage);
    return exitUsage;
  }
  const { maxHanging } = sizeThreadPool(defaultMaxPfs);
  const stop = new AbortController();
  process.once("SIGTERM", () => {
    stop.abort();
  });
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  await using host = createLinuxHost(hostRoot, {
    onUnreadableRecord({ path }) {
      log(`${path} is not a PF record; not used`);
    },
    ovsdbAddress: await readOvsdbAddress(hostRoot),
  });
  return await runPhase({
    phase,
    host,
    maxHanging,
    log,
    limitMs: bootPhaseLimitMs,
    signal: stop.signal,
    lock: () =>
      acquireNodeLock(hostRoot, {
        holder: {},
        now: () => new Date(),
        signal: AbortSignal.any([stop.signal, AbortSignal.timeout(lockLimitMs)]),
        onWaiting: log,
      }),
    timing: defaultTiming,
  });
}

/** Bridges are managed in the first phase in which Open vSwitch answers. An invalid file is reported by the phase. */
async function readOvsdbAddress(hostRoot: string): Promise<string | undefined> {
  const text = await readFile(join(hostRoot, bootConfigPath), "utf8").catch(() => undefined);
  const config = text === undefined ? undefined : await parseBootConfig(text);
  return config?.ok === true ? config.value.ovsdbAddress : undefined;
}
