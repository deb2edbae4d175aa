// SPDX-License-Identifier: Apache-2.0
/**
 * runCrdsCommand runs `operator crds apply`, which installs and upgrades Switchyard's CustomResourceDefinitions, and `operator
 * crds delete`, which removes them. The chart runs the first in a Job before an upgrade.
 * Usage: `node apps/operator/src/main.ts crds apply --kubeconfig ~/.kube/config`.
 */
import { connect } from "@switchyard/kube";
import { flag, runCommand, text, type CommandContext, type FlagsOf } from "@switchyard/service";
import { exitUsage } from "@switchyard/service/exit-usage";
import { connectionFlags, limitTime, timeoutFlag, type CommandDeps } from "./command.ts";
import { applyCrds } from "./crds/apply-crds.ts";
import { deleteCrds } from "./crds/delete-crds.ts";
import { defaultCrdDirectory, readCrds, type ShippedCrd } from "./crds/read-crds.ts";

const flags = {
  ...connectionFlags,
  directory: flag(text("DIR"), {
    env: "CRDS_DIRECTORY",
    help: "Directory of the files. If not set, the directory crds beside the program, which has the files of this release.",
  }),
  timeoutSeconds: timeoutFlag(120, "Time limit in seconds, after which the command fails and says what it waited for."),
};

type CrdsContext = CommandContext<typeof flags extends FlagsOf<infer Values> ? Values : never>;

interface Verb {
  readonly summary: string;
  readonly main: (context: CrdsContext) => Promise<number>;
}

const verbs: Readonly<Record<"apply" | "delete", Verb>> = {
  apply: {
    summary:
      "Installs or upgrades Switchyard's CustomResourceDefinitions, and waits until the API server serves them. It never " +
      "replaces those of a newer release, and sends nothing if nothing differs. It exits with 0 if all are served, else 1.",
    main: (context) => withCrds(context, async (deps, crds) => ((await applyCrds(deps, crds)) ? 0 : 1)),
  },
  delete: {
    summary:
      "Deletes Switchyard's CustomResourceDefinitions with all policies, networks and other objects of their kinds, and waits " +
      "until they are gone. VFs on nodes stay. It exits with 0 if all are gone, else 1.",
    main: (context) =>
      withCrds(context, async (deps, crds) => {
        await deleteCrds(deps, crds);
        return 0;
      }),
  },
};

/** `args` are the arguments after "crds". Resolves with 0, with 1 if a CRD is not as wanted, and with 64. */
export function runCrdsCommand([verb, ...args]: readonly string[]): Promise<number> {
  if (verb !== "apply" && verb !== "delete") {
    const isHelp = verb === "--help" || verb === "-h";
    const usage = "usage: operator crds apply|delete [FLAG...]; operator crds apply --help lists the flags\n";
    (isHelp ? process.stdout : process.stderr).write(usage);
    return Promise.resolve(isHelp ? 0 : exitUsage);
  }
  return runCommand({ name: `operator crds ${verb}`, flags, ...verbs[verb] }, args);
}

async function withCrds(
  { flags: { kubeconfig, directory, timeoutSeconds }, print, fail, signal }: CrdsContext,
  work: (deps: CommandDeps, crds: readonly ShippedCrd[]) => Promise<number>,
): Promise<number> {
  const crds = await readCrds(directory ?? defaultCrdDirectory());
  await using transport = await connect({ kubeconfig, userAgent: "switchyard-operator" });
  using limit = limitTime({ timeoutMs: timeoutSeconds * 1000, signal, print });
  return await work({ transport, limit, print, fail }, crds); // before they are disposed
}
