// SPDX-License-Identifier: Apache-2.0
/**
 * The process of the config daemon: the service of one node, or one of its commands. Each is a chunk of its own, because a
 * command that runs while the host boots must load little.
 * Usage: `node apps/config-daemon/src/main.ts --node-name worker-1`, `node apps/config-daemon/src/main.ts boot pre`, `node apps/config-daemon/src/main.ts cleanup --dry-run`.
 */
import { setHeapGrowthStep, keepCompiledCode, restartWithMemoryFlags } from "@switchyard/service/memory";

/** A command gets the arguments after its name and resolves with the exit code. */
type Command = (args: readonly string[]) => Promise<number>;

const commands: Readonly<Record<string, () => Promise<Command>>> = {
  boot: async () => (await import("./boot/boot-command.ts")).runBootCommand,
  cleanup: async () => (await import("./cleanup/cleanup-command.ts")).runCleanupCommand,
};

const [name = "", ...args] = process.argv.slice(2);
const command = Object.hasOwn(commands, name) ? await commands[name]?.() : undefined;
const exitCode = await (command === undefined ? runService() : command(args));

// Idle connections and watches of the kernel would keep the process alive.
process.exit(exitCode);

/** Imports the daemon only after restartWithMemoryFlags, which starts the process again: the first process would load it in vain. */
async function runService(): Promise<number> {
  restartWithMemoryFlags();
  setHeapGrowthStep();
  keepCompiledCode();
  const { runConfigDaemon } = await import("./config-daemon.ts");
  return runConfigDaemon();
}
