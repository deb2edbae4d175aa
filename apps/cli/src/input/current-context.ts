// SPDX-License-Identifier: Apache-2.0
/**
 * withCurrentContext makes commands that work on a cluster use the current context of the user's kubeconfig, as kubectl does, if no
 * other input is given. The context is named on stderr, so that nobody takes another cluster for the one that was meant.
 */
import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { isMap, parseDocument } from "yaml";
import type { Flags } from "../flags.ts";
import type { Diagnostics, Terminal } from "../terminal.ts";
import { isLive } from "./read-input.ts";

/** Returns the flags as they are if they name an input, or the user has no current context. */
export async function withCurrentContext(
  flags: Flags,
  { env }: Pick<Terminal, "env">,
  diagnostics: Diagnostics,
): Promise<Flags> {
  if (flags.filename.length > 0 || isLive(flags)) return flags;
  const context = await currentContext(env);
  if (context === undefined) return flags;
  diagnostics.note(`reading the cluster of the current context ${context}`);
  return { ...flags, context };
}

/** Of several files, the first that has a current context counts. A file that cannot be read counts as none, as with kubectl. */
async function currentContext(env: Terminal["env"]): Promise<string | undefined> {
  const home = env["HOME"];
  const files = env["KUBECONFIG"]
    ? env["KUBECONFIG"].split(delimiter).filter((file) => file !== "")
    : home
      ? [join(home, ".kube/config")]
      : [];
  for (const file of files) {
    const context = contextIn(await readFile(file, "utf8").catch(() => ""));
    if (context !== undefined) return context;
  }
  return undefined;
}

/** A kubeconfig has secrets, so nothing of it is ever part of a message but the name. */
function contextIn(text: string): string | undefined {
  const { contents } = parseDocument(text);
  const name: unknown = isMap(contents) ? contents.get("current-context") : undefined;
  return typeof name === "string" && name !== "" ? name : undefined;
}
