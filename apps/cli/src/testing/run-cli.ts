// SPDX-License-Identifier: Apache-2.0
/** runCli runs a command line without starting a process. */
import { run } from "../run.ts";
import type { Terminal } from "../terminal.ts";

export interface CliResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface CliOptions {
  /** Standard input: a text, or objects that are written as documents. */
  readonly input?: string | readonly unknown[];
  readonly isTTY?: boolean;
  readonly env?: Terminal["env"];
}

export async function runCli(argv: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const { input = "", isTTY = false, env = {} } = options;
  const text = typeof input === "string" ? input : input.map((object) => JSON.stringify(object)).join("\n---\n");
  const written = { out: "", err: "" };
  const output = (name: "out" | "err") => ({
    isTTY,
    write(more: string) {
      written[name] += more;
    },
  });
  const code = await run(argv, { stdin: once(text), stdout: output("out"), stderr: output("err"), env });
  return { code, ...written };
}

/** Two chunks that may split a character, as with a pipe. */
async function* once(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  const half = Math.floor(bytes.length / 2);
  yield bytes.subarray(0, half);
  yield await Promise.resolve(bytes.subarray(half));
}
