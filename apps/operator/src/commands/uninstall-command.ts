// SPDX-License-Identifier: Apache-2.0
/**
 * runUninstallCommand runs `operator uninstall`, which deletes the SriovOperatorConfig, waits for the operator, and gives the hosts
 * back if asked. The chart runs it in a Job before Helm deletes the operator.
 * Usage: `node apps/operator/src/main.ts uninstall --namespace sriov-network-operator --timeout-seconds 60`.
 */
import { connect } from "@switchyard/kube";
import { flag, runCommand, text, yesOrNo, type CommandContext, type FlagsOf } from "@switchyard/service";
import { exitUsage } from "@switchyard/service/exit-usage";
import { operatorFlags } from "../start/operator-flags.ts";
import { limitTime, namespacedFlags, timeoutFlag } from "./command.ts";
import { exitHostsRemain, uninstallAndGiveBack } from "./uninstall/uninstall-and-give-back.ts";
import { uninstall } from "./uninstall/uninstall.ts";

const { imagePullSecrets } = operatorFlags;
const flags = {
  ...namespacedFlags,
  timeoutSeconds: timeoutFlag(
    120,
    "Time in seconds for which the command waits for the operator. After it, the command needs at most 30 s for the rest.",
  ),
  giveHostsBack: flag(yesOrNo, {
    default: "false",
    env: "GIVE_HOSTS_BACK",
    help:
      "Then run config-daemon cleanup on each node that has a node state of any kind. Pods lose their VFs without a drain. " +
      "Needs --cleanup-image.",
  }),
  keepVfs: flag(yesOrNo, {
    default: "false",
    env: "KEEP_VFS",
    help: "With --give-hosts-back: leave VFs, MTUs and drivers as they are, and remove everything else.",
  }),
  cleanupImage: flag(text("IMAGE"), {
    env: "CLEANUP_IMAGE",
    help: "With --give-hosts-back: image of the config daemon.",
  }),
  imagePullSecrets,
  hostsTimeoutSeconds: timeoutFlag(
    600,
    "With --give-hosts-back: time in seconds for all hosts. Hosts that are not given back after it are named.",
    "HOSTS_TIMEOUT_SECONDS",
  ),
};

/** Time for removing what a dead operator has left, and for the last requests after another limit. */
const lastLimitMs = 30_000;

/** `args` are the arguments after "uninstall". Resolves with 0, 1 if something blocks the cluster, 2 if hosts are left, and 64. */
export function runUninstallCommand(args: readonly string[]): Promise<number> {
  const name = "operator uninstall";
  const summary =
    "Deletes the SriovOperatorConfig and waits until the operator has removed what it deployed. If the operator does not work, " +
    "it removes the webhook registrations and the finalizer of the SriovOperatorConfig itself. CustomResourceDefinitions, " +
    "policies, networks and VFs stay; with --give-hosts-back the hosts are reset. It exits with 0 if nothing is left that could " +
    `block requests, with ${exitHostsRemain} if only hosts are left that were not given back, else with 1.`;
  const command = { name, summary, flags, main };
  return runCommand(command, args);
}

type UninstallContext = CommandContext<typeof flags extends FlagsOf<infer Values> ? Values : never>;

async function main({ flags: given, print, fail, signal }: UninstallContext): Promise<number> {
  const { namespace, cleanupImage: image } = given;
  if (given.giveHostsBack && image === undefined) {
    fail("operator uninstall: flag --give-hosts-back needs --cleanup-image, the image of the config daemon");
    return exitUsage;
  }
  const limitOf = (timeoutMs: number) => limitTime({ timeoutMs, signal, print });
  await using transport = await connect({ kubeconfig: given.kubeconfig, userAgent: "switchyard-operator" });
  using limit = limitOf(given.timeoutSeconds * 1000);
  const deps = { transport, limit, startLastLimit: () => limitOf(lastLimitMs), print, fail };
  if (!given.giveHostsBack || image === undefined) return (await uninstall(deps, namespace)) ? 0 : 1;
  const limitSeconds = given.hostsTimeoutSeconds;
  const startHandback = () => limitOf(limitSeconds * 1000);
  const options = {
    namespace,
    image,
    imagePullSecrets: given.imagePullSecrets ?? [],
    keepsVfs: given.keepVfs,
    limitSeconds,
  };
  return await uninstallAndGiveBack({ ...deps, startHandback }, options); // before they are disposed
}
