// SPDX-License-Identifier: Apache-2.0
/** runGuide executes the commands of a guide word by word, in one shell each. */
import { spawn } from "node:child_process";
import { delimiter } from "node:path";
import { missingLine, type Block } from "./read-guide.ts";

/** Where the commands run. */
export interface GuidePlace {
  readonly kubeconfig: string;
  /** Directories with kubectl, helm and switchyard. */
  readonly path: readonly string[];
  /** The home and working directory of the shell. */
  readonly directory: string;
}

/** What happened to a block. */
export interface Outcome {
  readonly block: Block;
  /** "done" if it succeeded and its output is as documented; otherwise what went wrong. */
  readonly result: string;
}

/** Ends at the first block that fails. */
export async function runGuide(blocks: readonly Block[], place: GuidePlace): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const block of blocks.filter(({ notExecuted }) => notExecuted === undefined)) {
    const { status, output } = await runShell(block.script, place);
    const missing = block.output === undefined ? undefined : missingLine(block.output, output);
    const result =
      status !== 0
        ? `exit status ${status}:\n${output}`
        : missing !== undefined
          ? `the documented line "${missing}" is not in the output:\n${output}`
          : "done";
    outcomes.push({ block, result });
    if (result !== "done") break;
  }
  return outcomes;
}

function runShell(script: string, place: GuidePlace): Promise<{ readonly status: number; readonly output: string }> {
  const { kubeconfig, path, directory } = place;
  const env = {
    HOME: directory,
    KUBECONFIG: kubeconfig,
    TERM: "dumb",
    PATH: [...path, process.env["PATH"] ?? ""].join(delimiter),
  };
  return new Promise((resolve, reject) => {
    const shell = spawn("bash", ["-euo", "pipefail", "-c", script], {
      cwd: directory,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    const add = (chunk: Buffer) => (output += chunk.toString());
    shell.stdout.on("data", add);
    shell.stderr.on("data", add);
    shell.once("error", reject);
    shell.once("close", (status) => {
      resolve({ status: status ?? 128, output });
    });
  });
}
