// SPDX-License-Identifier: Apache-2.0
/** The page of all flags, from what `--help` of each program prints. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { GenerateError } from "../generate-error.ts";
import { code, table } from "../markdown.ts";

/** A flag as `--help` of a service shows it. */
export interface ShownFlag {
  readonly flag: string;
  readonly value: string;
  readonly help: string;
  readonly isRequired: boolean;
  readonly default: string;
  readonly env: string;
}

/** The apps whose `--help` lists flags with defaults and environment variables; the others print free text. */
export function servicesOf(root: string): readonly string[] {
  return readdirSync(join(root, "apps"))
    .filter((app) => existsSync(join(root, "apps", app, "src/main.ts")) && !["cli", "eve-bridge"].includes(app))
    .toSorted();
}

export function flagsPage(root: string): string {
  const services = servicesOf(root).map((app) => {
    const help = helpOf(root, `apps/${app}/src/main.ts`);
    return { app, ...parseHelp(help), commands: commandsIn(help, app) };
  });
  const [first, ...others] = services;
  const isCommon = (flag: ShownFlag) => others.every(({ flags }) => flags.some((it) => isSame(it, flag)));
  const common = first?.flags.filter(isCommon) ?? [];
  const commonNames = new Set(common.map(({ flag }) => flag));
  const own = services.map(({ app, summary, flags, commands }) =>
    [
      ...[`## ${app}`, summary, flagTable(flags.filter(({ flag }) => !commonNames.has(flag)))],
      ...commands.flatMap((words) => {
        const command = parseHelp(helpOf(root, `apps/${app}/src/main.ts`, ...words.split(" ")));
        return [`### ${app} ${words}`, command.summary, flagTable(command.flags)];
      }),
    ].join("\n\n"),
  );
  const overview = helpOf(root, "apps/cli/src/main.ts");
  const verbs = readdirSync(join(root, "apps/cli/src/verbs"))
    .map((file) => file.replace(/\.ts$/, ""))
    .filter((verb) => !verb.includes(".test") && new RegExp(`^  ${verb} `, "m").test(overview))
    .toSorted();
  const verbHelps = verbHelpsOf(root, verbs);
  return [
    "# Flags",
    "Each flag of a service can also be set by its environment variable. The command line has precedence over the " +
      "variable, and the variable over the default. An empty variable counts as absent. An unknown flag or an invalid " +
      "value ends the process with exit code 64. `--help` prints the flags, `--version` the version.",
    "## All services",
    `The flags that ${services.map(({ app }) => code(app)).join(", ")} have in common.`,
    flagTable(common),
    ...own,
    "## switchyard",
    fence(overview),
    ...verbs.flatMap((verb, at) => [`### switchyard ${verb}`, fence(verbHelps[at] ?? "")]),
    "## eve-bridge",
    fence(helpOf(root, "apps/eve-bridge/src/main.ts")),
  ].join("\n\n");
}

/** Reads what renderHelp() of libs/service prints: a summary, and each flag with the lines of its help, which may be wrapped. */
export function parseHelp(text: string): { readonly summary: string; readonly flags: readonly ShownFlag[] } {
  const [head = "", ...blocks] = text.split(/^ {2}(?=-)/m);
  const summary = head
    .split("\n")
    .filter((line) => !/^(?:Usage|Flags):/.test(line))
    .join(" ")
    .replace(/^\s*\w[\w-]*: /, "");
  return { summary: oneLine(summary), flags: blocks.flatMap(parseFlag) };
}

/** The words of the commands that a service lists at the end of its help: "crds apply". */
function commandsIn(help: string, app: string): readonly string[] {
  const [, list = ""] = help.split(/^Commands, .*$/m);
  return [...list.matchAll(new RegExp(`^ {2}${app} (\\S.*)$`, "gm"))].map(([, words = ""]) => words);
}

/** Nothing for --help and --version, which no variable sets. */
function parseFlag(block: string): readonly ShownFlag[] {
  const [usage = "", ...lines] = block.split("\n");
  const [, help = "", notes = "", env = ""] =
    /^(.*) \(((?:[^()]|\([^()]*\))*\benv (\w+))\)$/.exec(oneLine(lines.join(" "))) ?? [];
  const [flag = "", value = ""] = usage.trim().split(/ (.*)/);
  const [, fallback = ""] = /(?:^|, )default (.*), env \w+$/.exec(notes) ?? [];
  const isRequired = notes.startsWith("required");
  return env === "" ? [] : [{ flag, value, help, isRequired, default: fallback, env }];
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function helpOf(root: string, program: string, ...before: readonly string[]): string {
  return outputOf(root, program, [join(root, program), ...before, "--help"]);
}

/** What `switchyard VERB --help` prints for each verb. One process prints all, because each loads the whole command line. */
function verbHelpsOf(root: string, verbs: readonly string[]): readonly string[] {
  const script = [
    `const { run } = await import(${JSON.stringify(join(root, "apps/cli/src/run.ts"))});`,
    'const helps = [], stderr = process.stderr, env = { NO_COLOR: "1" }, stdin = [];',
    `for (const verb of ${JSON.stringify(verbs)}) {`,
    '  let text = ""; const stdout = { isTTY: false, write: (more) => { text += more; } };',
    '  if ((await run([verb, "--help"], { stdin, stdout, stderr, env })) !== 0) process.exitCode = 1;',
    "  helps.push(text);",
    "}",
    "process.stdout.write(JSON.stringify(helps));",
  ];
  const printed = outputOf(root, "apps/cli/src/run.ts", ["--input-type=module", "--eval", script.join("\n")]);
  return JSON.parse(printed) as readonly string[];
}

function outputOf(root: string, program: string, args: readonly string[]): string {
  // Without variables of the caller, which some programs read before their flags.
  const env = {
    PATH: process.env["PATH"],
    NO_COLOR: "1",
    // The programs share most of their sources, which Node compiles once.
    NODE_COMPILE_CACHE: join(root, "node_modules/.cache/compiled"),
  };
  const words = ["--disable-warning=ExperimentalWarning", ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8", env });
  if (status !== 0) throw new GenerateError("NO_HELP", program, `--help failed: ${stderr}`);
  return stdout;
}

function isSame(a: ShownFlag, b: ShownFlag): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function flagTable(flags: readonly ShownFlag[]): string {
  const rows = flags.map(({ flag, value, help, isRequired, default: fallback, env }) => {
    const usage = value === "" ? flag : `${flag} ${value}`;
    return [code(usage), isRequired ? "required" : code(fallback), code(env), help];
  });
  return table(["Flag", "Default", "Environment", "Meaning"], rows);
}

function fence(text: string): string {
  return `\`\`\`text\n${text.trimEnd()}\n\`\`\``;
}
