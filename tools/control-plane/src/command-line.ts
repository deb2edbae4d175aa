// SPDX-License-Identifier: Apache-2.0
/** Parses the command line of `npm run control-plane`. */
import { parseArgs } from "node:util";

export interface StartCommand {
  readonly verb: "start";
  readonly detach: boolean;
  readonly controllerManager: boolean;
  readonly auditLog: boolean;
  /** Whether to install the CRDs of charts/switchyard/crds. */
  readonly crds: boolean;
  /** Directory for all files; undefined for a temporary directory, which is removed at the end. */
  readonly dataDir: string | undefined;
}

export type Command =
  StartCommand | { readonly verb: "stop" | "help" } | { readonly verb: "misused"; readonly why: string };

export const helpText = `npm run control-plane -- [start] [flags]   run a real API server on loopback, for tests and experiments
npm run control-plane -- stop              stop the API server that was started with --detach

  --detach              run in the background
  --controller-manager  also run kube-controller-manager (service accounts, garbage collection, DaemonSets)
  --audit-log           record every request in <data dir>/audit.log
  --no-crds             do not install the CRDs of charts/switchyard/crds
  --data-dir DIR        keep all files in DIR, so that the objects still exist in the next run
  --help                show this help

The only line on stdout is \`export KUBECONFIG=…\`, so you can run: eval "$(npm run -s control-plane -- --detach)"`;

export function parseCommandLine(args: readonly string[]): Command {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      allowNegative: true,
      options: {
        detach: { type: "boolean", default: false },
        "controller-manager": { type: "boolean", default: false },
        "audit-log": { type: "boolean", default: false },
        crds: { type: "boolean", default: true },
        "data-dir": { type: "string" },
        help: { type: "boolean", default: false },
      },
    });
    const [verb = "start", ...more] = positionals;
    if (values.help) return { verb: "help" };
    if (more.length > 0 || (verb !== "start" && verb !== "stop")) {
      return { verb: "misused", why: `unknown arguments "${positionals.join(" ")}"` };
    }
    if (verb === "stop") return { verb };
    return {
      verb,
      detach: values.detach,
      controllerManager: values["controller-manager"],
      auditLog: values["audit-log"],
      crds: values.crds,
      dataDir: values["data-dir"],
    };
  } catch (error) {
    return { verb: "misused", why: error instanceof Error ? error.message : String(error) };
  }
}

/** The arguments for the background process: the same command without --detach. */
export function renderCommandLine(command: StartCommand): readonly string[] {
  return [
    "start",
    ...(command.controllerManager ? ["--controller-manager"] : []),
    ...(command.auditLog ? ["--audit-log"] : []),
    ...(command.crds ? [] : ["--no-crds"]),
    ...(command.dataDir === undefined ? [] : ["--data-dir", command.dataDir]),
  ];
}
