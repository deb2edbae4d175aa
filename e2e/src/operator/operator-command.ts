// SPDX-License-Identifier: Apache-2.0
/**
 * startOperatorCommand starts a command of the operator's program, such as `crds apply`, as a Job of the chart does.
 */
import { findWorkspaceRoot, type ControlPlane } from "@switchyard/testing";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { componentSettings, namespace } from "./identity-objects.ts";

/** A flag with an image for each component: the operator does not deploy a component without an image. */
export const componentImageFlags: readonly string[] = Object.entries(componentSettings.images).flatMap(
  ([name, image]) => [`--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}-image`, image ?? ""],
);

/** How a command ended. */
export interface CommandEnd {
  /** Undefined after a kill. */
  readonly code: number | undefined;
  /** Lines of stdout. */
  readonly lines: readonly string[];
  /** stderr. */
  readonly errors: string;
}

export interface RunningCommand {
  readonly ended: Promise<CommandEnd>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Resolves when a line of stdout contains the text, or when the command has ended. */
  readonly said: (text: string) => Promise<void>;
}

export function startOperatorCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RunningCommand {
  const main = join(findWorkspaceRoot(), "apps/operator/src/main.ts");
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...args], {
    env: { PATH, HOME, ...env },
  });
  let out = "";
  let errors = "";
  const listeners = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    for (const listener of listeners) listener();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const ended = new Promise<CommandEnd>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      resolve({ code: code ?? undefined, lines: out.split("\n").filter((line) => line !== ""), errors });
    });
  });
  return {
    ended,
    kill: (signal) => child.kill(signal),
    said: async (text) => {
      const heard = new Promise<void>((resolve) => {
        const look = (): void => {
          if (out.includes(text)) resolve();
        };
        listeners.add(look);
        look();
      });
      await Promise.race([heard, ended]);
    },
  };
}

/**
 * deployedOperatorArguments returns the arguments of an operator that runs as a process with the rights that it has in a
 * cluster.
 * The script and its flags: a token of the operator's service account, and no leader election.
 */
export async function deployedOperatorArguments(cluster: ControlPlane): Promise<readonly string[]> {
  const account = componentSettings.operatorServiceAccount;
  const token = (await cluster.kubectl(["create", "token", account, "-n", namespace])).trim();
  const main = join(findWorkspaceRoot(), "apps/operator/src/main.ts");
  const kubeconfig = await cluster.clientFor({ token });
  return [main, "--kubeconfig", kubeconfig, "--namespace", namespace, "--leader-elect=false"];
}
