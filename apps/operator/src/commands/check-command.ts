// SPDX-License-Identifier: Apache-2.0
/**
 * runCheckCommand runs `operator check`, which waits until the installation works. The chart runs it as its test (`helm test`).
 * Usage: `node apps/operator/src/main.ts check --namespace sriov-network-operator --kubeconfig ~/.kube/config`.
 */
import { connect } from "@switchyard/kube";
import { runCommand, type CommandContext, type FlagsOf } from "@switchyard/service";
import { operatorFlags } from "../start/operator-flags.ts";
import { checkInstallation } from "./check/check-installation.ts";
import { limitTime, namespacedFlags, timeoutFlag } from "./command.ts";

const { leaderElect } = operatorFlags;
const flags = {
  ...namespacedFlags,
  leaderElect,
  timeoutSeconds: timeoutFlag(120, "Time limit in seconds, after which the command fails and says what it waited for."),
};

type CheckContext = CommandContext<typeof flags extends FlagsOf<infer Values> ? Values : never>;

/** `args` are the arguments after "check". Resolves with 0, with 1 if the installation does not work in time, and with 64. */
export function runCheckCommand(args: readonly string[]): Promise<number> {
  const name = "operator check";
  const summary =
    "Waits until a replica of the operator leads and the SriovOperatorConfig is Ready. It writes nothing. A " +
    "SriovOperatorConfig that does not exist is reported, but is no failure. It exits with 0 if the installation works, " +
    "else with 1.";
  const command = {
    name,
    summary,
    flags,
    async main({ flags: given, print, fail, signal }: CheckContext) {
      await using transport = await connect({ kubeconfig: given.kubeconfig, userAgent: "switchyard-operator" });
      using limit = limitTime({ timeoutMs: given.timeoutSeconds * 1000, signal, print });
      await checkInstallation(
        { transport, limit, print, fail },
        { namespace: given.namespace, elects: given.leaderElect },
      );
      return 0;
    },
  };
  return runCommand(command, args);
}
