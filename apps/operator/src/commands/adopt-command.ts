// SPDX-License-Identifier: Apache-2.0
/**
 * runAdoptCommand runs `operator adopt`, for the upgrade of a release of upstream's chart to Switchyard's chart. The chart runs
 * it in a Job before each upgrade.
 * Usage: `node apps/operator/src/main.ts adopt --release sriov --namespace sriov-network-operator --dry-run`.
 */
import { connect } from "@switchyard/kube";
import { flag, runCommand, text, yesOrNo, type CommandContext, type FlagsOf } from "@switchyard/service";
import { adopt } from "./adopt/adopt.ts";
import { limitTime, namespacedFlags, timeoutFlag } from "./command.ts";

const flags = {
  ...namespacedFlags,
  release: flag(text("NAME"), { required: true, env: "RELEASE", help: "Name of the Helm release." }),
  includeConfig: flag(yesOrNo, {
    default: "false",
    env: "INCLUDE_CONFIG",
    help:
      "Also let the release own a SriovOperatorConfig that Helm has not installed, before sriovOperatorConfig.deploy is set to " +
      "true for the first time.",
  }),
  dryRun: flag(yesOrNo, { default: "false", env: "DRY_RUN", help: "Only print what would be done." }),
  timeoutSeconds: timeoutFlag(60, "Time limit in seconds."),
};

/** `args` are the arguments after "adopt". Resolves with 0, with 1 if an object could not be read or annotated, and with 64. */
export function runAdoptCommand(args: readonly string[]): Promise<number> {
  const name = "operator adopt";
  const summary =
    "Annotates the objects of a release of the SR-IOV network operator's chart that must stay, so that Helm does not delete " +
    "them when the release is upgraded to Switchyard's chart. Objects that are not of this release are reported and not changed. " +
    "It exits with 0 if all objects could be read and annotated, else with 1.";
  const command = {
    name,
    summary,
    flags,
    async main({ flags: given, print, fail, signal }: AdoptContext) {
      const { release, namespace, includeConfig, dryRun: isDryRun } = given;
      await using transport = await connect({ kubeconfig: given.kubeconfig, userAgent: "switchyard-operator" });
      using limit = limitTime({ timeoutMs: given.timeoutSeconds * 1000, signal, print });
      const isComplete = await adopt(
        { transport, limit, print, fail },
        { release, namespace, includeConfig, isDryRun },
      );
      return isComplete ? 0 : 1;
    },
  };
  return runCommand(command, args);
}

type AdoptContext = CommandContext<typeof flags extends FlagsOf<infer Values> ? Values : never>;
