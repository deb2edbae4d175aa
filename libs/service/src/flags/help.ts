// SPDX-License-Identifier: Apache-2.0
/**
 * renderHelp makes the text that --help prints.
 */
import { optionOf, type AnyFlags } from "./flags.ts";

/** Width of a terminal, and of the page in a terminal that is wider. */
const columns = 80;

/**
 * Returns the usage of a process and its flags, with the default and the environment variable of each flag, and the commands
 * that the process has instead.
 */
export function renderHelp(about: {
  readonly name: string;
  readonly summary: string;
  readonly flags: AnyFlags;
  /** Purposes of commands by their words: "crds apply". */
  readonly commands?: Readonly<Record<string, string>> | undefined;
}): string {
  const flags = Object.entries(about.flags).map(([name, { kind, help, env, required, default: fallback }]) => {
    const notes = [
      ...(required ? ["required"] : []),
      ...(fallback === undefined ? [] : [`default ${fallback}`]),
      `env ${env}`,
    ];
    const usage = kind.alone === undefined ? `${optionOf(name)} ${kind.placeholder}` : optionOf(name);
    return renderFlag(usage, `${help} (${notes.join(", ")})`);
  });
  const commands = Object.entries(about.commands ?? {}).map(([words, purpose]) =>
    renderFlag(`${about.name} ${words}`, purpose),
  );
  const parts = [
    `Usage: ${about.name} [FLAG...]\n`,
    wrap(about.summary, ""),
    [
      "Flags:\n",
      ...flags,
      renderFlag("-h, --help", "Print this help and exit."),
      renderFlag("--version", "Print the version and exit."),
    ].join(""),
    ...(commands.length === 0 ? [] : [["Commands, each with --help:\n", ...commands].join("")]),
  ];
  return parts.join("\n");
}

function renderFlag(usage: string, help: string): string {
  return `  ${usage}\n${wrap(help, "      ")}`;
}

/** Breaks `text` between words into lines of at most `columns`, each with `indent` before it and a newline after it. */
function wrap(text: string, indent: string): string {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    const longer = line === undefined ? undefined : `${line} ${word}`;
    if (longer !== undefined && longer.length <= columns) lines[lines.length - 1] = longer;
    else lines.push(indent + word);
  }
  return lines.map((line) => `${line}\n`).join("");
}
