// SPDX-License-Identifier: Apache-2.0
/**
 * runCleanupCommand removes what Switchyard has configured on the host, for example before it is uninstalled. It waits for the
 * lock of the node, so it does not run beside a daemon. A dry run only reads, and needs no lock.
 * Usage: `node apps/config-daemon/src/main.ts cleanup --dry-run`, `node apps/config-daemon/src/main.ts cleanup --keep-vfs --host-root /host`.
 */
import { defined, err, ok, type Result } from "@switchyard/api";
import { acquireNodeLock, createLinuxHost, createLinuxHostFiles } from "@switchyard/host";
import { stateDirectory } from "@switchyard/policy";
import { exitUsage } from "@switchyard/service/exit-usage";
import { parseArgs } from "node:util";
import { openKubelet } from "../kubelet/open-kubelet.ts";
import { defaultTiming } from "../deadlines/with-deadline.ts";
import { defaultOvsdbAddress } from "../start/ovsdb-address.ts";
import { defaultMaxPfs, sizeThreadPool } from "../start/resources.ts";
import { readStateDirectory } from "../start/state-directory.ts";
import { runCleanup } from "./run-cleanup.ts";

export const cleanupUsage =
  "usage: config-daemon cleanup [--keep-vfs] [--dry-run] [--host-root DIR] [--state-directory DIR]";

/** Parses the arguments of `config-daemon cleanup`. */
interface CleanupArguments {
  readonly hostRoot: string;
  readonly keepsVfs: boolean;
  readonly isDryRun: boolean;
  /** Absent for the default directory. */
  readonly stateDirectory?: string;
}

/** Time for which the command waits for a daemon that still runs. */
const lockLimitMs = 60_000;

/** Resolves with 0 if nothing of Switchyard is left, 1 if something could not be removed, and 64 for invalid arguments. */
export async function runCleanupCommand(args: readonly string[]): Promise<number> {
  const fail = (line: string): void => void process.stderr.write(`${line}\n`);
  const parsed = parseCleanupArguments(args);
  if (!parsed.ok) {
    fail(parsed.error);
    return exitUsage;
  }
  const {
    hostRoot,
    stateDirectory = await readStateDirectory(createLinuxHostFiles(hostRoot)),
    ...options
  } = parsed.value;
  const { maxHanging } = sizeThreadPool(defaultMaxPfs);
  const stop = new AbortController();
  process.once("SIGTERM", () => {
    stop.abort();
  });
  await using host = createLinuxHost(hostRoot, {
    onUnreadableRecord({ path }) {
      fail(`${path} is not a PF record; not used`);
    },
    ovsdbAddress: defaultOvsdbAddress,
    stateDirectory,
  });
  try {
    await using _lock = options.isDryRun
      ? undefined
      : await acquireNodeLock(hostRoot, {
          holder: {},
          now: () => new Date(),
          signal: AbortSignal.any([stop.signal, AbortSignal.timeout(lockLimitMs)]),
          onWaiting: fail,
        });
    return await runCleanup({
      ...options,
      host,
      maxHanging,
      fail,
      readKubelet: openKubelet(hostRoot).readAfxdp,
      signal: stop.signal,
      print: (line) => void process.stdout.write(`${line}\n`),
      timing: defaultTiming,
    });
  } catch (thrown) {
    fail(thrown instanceof Error ? thrown.message : String(thrown));
    return 1;
  }
}

/** Returns the usage, after the reason, for arguments that do not exist. */
export function parseCleanupArguments(args: readonly string[]): Result<CleanupArguments, string> {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        "keep-vfs": { type: "boolean", default: false },
        "dry-run": { type: "boolean", default: false },
        "host-root": { type: "string", default: "/host" },
        "state-directory": { type: "string" },
      },
    });
    const directory = values["state-directory"];
    if (directory !== undefined && !stateDirectory.isValid(directory)) {
      return err(`--state-directory must be ${stateDirectory.expected}\n${cleanupUsage}`);
    }
    return ok({
      hostRoot: values["host-root"],
      keepsVfs: values["keep-vfs"],
      isDryRun: values["dry-run"],
      ...defined({ stateDirectory: directory }),
    });
  } catch (error) {
    if (!isOfParseArgs(error)) throw error;
    return err(`${error.message}\n${cleanupUsage}`);
  }
}

function isOfParseArgs(error: unknown): error is { readonly message: string } {
  if (typeof error !== "object" || error === null || !("code" in error) || !("message" in error)) return false;
  return String(error.code).startsWith("ERR_PARSE_ARGS") && typeof error.message === "string";
}
