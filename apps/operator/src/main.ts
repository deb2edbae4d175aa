// SPDX-License-Identifier: Apache-2.0
/**
 * The process of the operator: the service, or one of its commands, which are chunks of their own. The commands are for the
 * hooks of the chart, and for administrators.
 * Usage: `node apps/operator/src/main.ts --namespace sriov-network-operator`, `node apps/operator/src/main.ts crds apply`.
 */
import { minSemiSpaceFlag, restartWithOneMallocArena } from "@switchyard/service/memory";

/** A command gets the arguments after its name and resolves with the exit code. */
type Command = (args: readonly string[]) => Promise<number>;

const commands: Readonly<Record<string, () => Promise<Command>>> = {
  adopt: async () => (await import("./commands/adopt-command.ts")).runAdoptCommand,
  check: async () => (await import("./commands/check-command.ts")).runCheckCommand,
  crds: async () => (await import("./commands/crds-command.ts")).runCrdsCommand,
  uninstall: async () => (await import("./commands/uninstall-command.ts")).runUninstallCommand,
};

const [name = "", ...args] = process.argv.slice(2);
const command = Object.hasOwn(commands, name) ? await commands[name]?.() : undefined;
const exitCode = await (command === undefined ? runService() : command(args));

// Idle connections and file watches that are still open would keep the process alive.
process.exit(exitCode);

/** Imports the service only after restartWithOneMallocArena, which starts the process again: the first process would load it in vain. */
async function runService(): Promise<number> {
  restartWithOneMallocArena(minSemiSpaceFlag);
  const { runOperator } = await import("./operator.ts");
  return runOperator();
}
