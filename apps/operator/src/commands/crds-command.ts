// SPDX-License-Identifier: Apache-2.0
/**
 * runCrdsCommand runs `operator crds apply`, which installs and upgrades Switchyard's CustomResourceDefinitions. The chart
 * runs it in a Job before an upgrade.
 * Usage: `node apps/operator/src/main.ts crds apply --kubeconfig ~/.kube/config`.
 */
import { connect } from "@switchyard/kube";
import { flag, runCommand, text, type CommandContext, type FlagsOf } from "@switchyard/service";
import { exitUsage } from "@switchyard/service/exit-usage";
import { connectionFlags, timeoutFlag } from "./command-flags.ts";
import { applyCrds } from "./crds/apply-crds.ts";
import { defaultCrdDirectory, readCrds } from "./crds/read-crds.ts";
import { limitTime } from "./time-limit.ts";

const flags = {
  ...connectionFlags,
  directory: flag(text("DIR"), {
    env: "CRDS_DIRECTORY",
    help: "Directory of the files. If not set, the directory crds beside the program, which has the files of this release.",
  }),
  timeoutSeconds: timeoutFlag(120, "Time limit in seconds, after which the command fails and says what it waited for."),
};

type CrdsContext = CommandContext<typeof flags extends FlagsOf<infer Values> ? Values : never>;

/** `args` are the arguments after "crds". Resolves with 0, with 1 if a CRD is not applied or not served, and with 64. */
export function runCrdsCommand([verb, ...args]: readonly string[]): Promise<number> {
  if (verb !== "apply" && verb !== "--help" && verb !== "-h") {
    process.stderr.write("usage: operator crds apply [FLAG...]; operator crds apply --help lists the flags\n");
    return Promise.resolve(exitUsage);
  }
  const name = "operator crds apply";
  const summary =
    "Installs or upgrades Switchyard's CustomResourceDefinitions, and waits until the API server serves them. It never " +
    "replaces those of a newer release, and sends nothing if nothing differs. It exits with 0 if all are served, else 1.";
  const command = {
    ...{ name, summary, flags },
    async main({ flags: { kubeconfig, directory, timeoutSeconds }, print, fail, signal }: CrdsContext) {
      const crds = await readCrds(directory ?? defaultCrdDirectory());
      await using transport = await connect({ kubeconfig, userAgent: "switchyard-operator" });
      using limit = limitTime({ timeoutMs: timeoutSeconds * 1000, signal, print });
      return (await applyCrds({ transport, limit, print, fail }, crds)) ? 0 : 1;
    },
  };
  return runCommand(command, verb === "apply" ? args : ["--help"]);
}
