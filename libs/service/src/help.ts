// SPDX-License-Identifier: Apache-2.0
/**
 * What --help prints.
 */
import { optionOf, type AnyFlags } from "./flags.ts";

/** Usage of a process and its flags, with the default and the environment variable of each. Ends in a newline. */
export function renderHelp(about: {
  readonly name: string;
  readonly summary: string;
  readonly flags: AnyFlags;
}): string {
  const flags = Object.entries(about.flags).map(([name, { kind, help, env, required, default: fallback }]) => {
    const notes = [
      required ? ["required"] : [],
      fallback === undefined ? [] : [`default ${fallback}`],
      `env ${env}`,
    ].flat();
    const usage = kind.alone === undefined ? `${optionOf(name)} ${kind.placeholder}` : optionOf(name);
    return `  ${usage}\n        ${help} (${notes.join(", ")})\n`;
  });
  const own = ["  --help\n        Print this and exit.\n", "  --version\n        Print the version and exit.\n"];
  return [`${about.name}: ${about.summary}\n\nUsage: ${about.name} [flags]\n\n`, ...flags, ...own].join("");
}
