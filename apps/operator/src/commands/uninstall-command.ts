// SPDX-License-Identifier: Apache-2.0
/**
 * runUninstallCommand runs `operator uninstall`, which deletes the SriovOperatorConfig and waits for the operator. The chart
 * runs it in a Job before Helm deletes the operator.
 * Usage: `node apps/operator/src/main.ts uninstall --namespace sriov-network-operator --timeout-seconds 60`.
 */
import { connect } from "@switchyard/kube";
import { runCommand, type CommandContext, type FlagsOf } from "@switchyard/service";
import { namespacedFlags, timeoutFlag } from "./command-flags.ts";
import { limitTime } from "./time-limit.ts";
import { uninstall } from "./uninstall/uninstall.ts";

const flags = {
  ...namespacedFlags,
  timeoutSeconds: timeoutFlag(
    120,
    "Time in seconds for which the command waits for the operator. After it, the command needs at most 30 s for the rest.",
  ),
};

/** Time for removing what a dead operator has left. */
const lastLimitMs = 30_000;

/** `args` are the arguments after "uninstall". Resolves with 0, with 1 if something blocks the cluster, and with 64. */
export function runUninstallCommand(args: readonly string[]): Promise<number> {
  const name = "operator uninstall";
  const summary =
    "Deletes the SriovOperatorConfig and waits until the operator has removed what it deployed. If the operator does not work, " +
    "it removes the webhook registrations and the finalizer of the SriovOperatorConfig itself. CustomResourceDefinitions, " +
    "policies, networks and VFs stay. It exits with 0 if nothing is left that could block requests, else with 1.";
  const command = {
    ...{ name, summary, flags },
    async main({ flags: given, print, fail, signal }: UninstallContext) {
      await using transport = await connect({ kubeconfig: given.kubeconfig, userAgent: "switchyard-operator" });
      using limit = limitTime({ timeoutMs: given.timeoutSeconds * 1000, signal, print });
      const startLastLimit = () => limitTime({ timeoutMs: lastLimitMs, signal, print });
      return (await uninstall({ transport, limit, startLastLimit, print, fail }, given.namespace)) ? 0 : 1;
    },
  };
  return runCommand(command, args);
}

type UninstallContext = CommandContext<typeof flags extends FlagsOf<infer Values> ? Values : never>;
