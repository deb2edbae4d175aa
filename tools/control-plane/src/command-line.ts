// SPDX-License-Identifier: Apache-2.0
/**
 * What `npm run control-plane` is asked for.
 * Usage: `parseCommandLine(["--detach", "--controller-manager"])`
 */
import { parseArgs } from "node:util";

export interface StartCommand {
  readonly verb: "start";
  readonly detach: boolean;
  readonly controllerManager: boolean;
  readonly auditLog: boolean;
  /** Whether our CRDs are installed. */
  readonly crds: boolean;
  /** undefined: a directory that goes at the end. */
  readonly dataDir: string | undefined;
}

export type Command =
  StartCommand | { readonly verb: "stop" | "help" } | { readonly verb: "misused"; readonly why: string };

export const helpText = `npm run control-plane -- [start] [flags]   a real API server on loopback, for tests and trying out
npm run control-plane -- stop              ends the one that was started with --detach

  --detach              leave it running in the background
  --controller-manager  run kube-controller-manager too (service accounts, garbage collection, DaemonSets)
  --audit-log           record every request in <data dir>/audit.log
  --no-crds             do not install the CRDs of charts/switchyard/crds
  --data-dir DIR        keep all files, and its objects from run to run, in DIR
  --help

stdout has only the line \`export KUBECONFIG=…\`, so this works: eval "$(npm run -s control-plane -- --detach)"`;

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
      return { verb: "misused", why: `unknown: ${positionals.join(" ")}` };
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

/** The same again for the process in the background, which stays in its foreground. */
export function renderCommandLine(command: StartCommand): readonly string[] {
  return [
    "start",
    ...(command.controllerManager ? ["--controller-manager"] : []),
    ...(command.auditLog ? ["--audit-log"] : []),
    ...(command.crds ? [] : ["--no-crds"]),
    ...(command.dataDir === undefined ? [] : ["--data-dir", command.dataDir]),
  ];
}
