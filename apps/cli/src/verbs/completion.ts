// SPDX-License-Identifier: Apache-2.0
/**
 * `switchyard completion SHELL` prints a completion script that is made from the table of verbs. The values of some flags are names
 * of a kubeconfig or a cluster, which the scripts ask kubectl for.
 */
import { flagSpecs, type FlagSpec } from "../flags.ts";
import { CliError, exitCodes } from "../terminal.ts";
import type { RunVerb, Verb } from "../verb.ts";

/**
 * completionScripts generates completion scripts for shells, with verbs, their flags, and values of flags. Keyed by shell; "kubectl"
 * is the program kubectl_complete-switchyard, which kubectl asks for completions of its plugin.
 */
const completionScripts: ReadonlyMap<string, (verbs: readonly Verb[]) => string> = new Map([
  ["bash", bash],
  ["zsh", zsh],
  ["fish", fish],
  ["kubectl", kubectl],
]);

/** Commands that print names for the values of flags, one a line, and nothing if there is no cluster. */
const nameCommands: readonly { readonly flags: readonly FlagSpec[]; readonly command: string }[] = [
  { flags: [flagSpecs.context], command: "kubectl config get-contexts -o name 2>/dev/null" },
  { flags: [flagSpecs.node, flagSpecs.nodes], command: namesIn("nodes", ".metadata.name") },
  { flags: [flagSpecs.namespace], command: namesIn("namespaces", ".metadata.name") },
  { flags: [flagSpecs.policy], command: namesIn("sriovnetworknodepolicies -A", ".metadata.name") },
  { flags: [flagSpecs.resource], command: namesIn("sriovnetworknodepolicies -A", ".spec.resourceName") },
];

function namesIn(what: string, path: string): string {
  return `kubectl get ${what} --request-timeout=2s -o custom-columns=NAME:${path} --no-headers 2>/dev/null`;
}

/** Undefined if the values of the flag are no names of a cluster. */
function nameCommandOf(flag: FlagSpec): string | undefined {
  return nameCommands.find(({ flags }) => flags.includes(flag))?.command;
}

export const completion: RunVerb = async ({ operands, terminal, verbs }) => {
  const [shell = "", extra] = operands;
  const script = completionScripts.get(shell);
  if (script === undefined || extra !== undefined) {
    throw new CliError("usage", `completion requires one argument, one of ${[...completionScripts.keys()].join(", ")}`);
  }
  terminal.stdout.write(script(verbs));
  return Promise.resolve(exitCodes.done);
};

function bash(verbs: readonly Verb[]): string {
  const choices = new Map<string, readonly string[]>();
  for (const flag of Object.values(flagSpecs)) {
    if (flag.choices !== undefined) choices.set(spellings(flag).join("|"), flag.choices);
  }
  return `# bash completion for switchyard
_switchyard() {
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "${verbs.map(({ name }) => name).join(" ")} help" -- "$word")
    return
  fi
  case $previous in
${nameCommands.map(({ flags, command }) => `    ${[...new Set(flags.flatMap(spellings))].join("|")}) mapfile -t COMPREPLY < <(compgen -W "$(${command})" -- "$word"); return ;;`).join("\n")}
${[...choices].map(([flag, values]) => `    ${flag}) mapfile -t COMPREPLY < <(compgen -W "${values.join(" ")}" -- "$word"); return ;;`).join("\n")}
    ${[flagSpecs.filename, flagSpecs.existing, flagSpecs.kubeconfig].flatMap(spellings).join("|")}) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
  esac
  local words=
  case \${COMP_WORDS[1]} in
${verbs.map((verb) => `    ${verb.name}) words="${wordsOf(verb).join(" ")}" ;;`).join("\n")}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o filenames -F _switchyard switchyard
`;
}

function zsh(verbs: readonly Verb[]): string {
  const argument = (flag: FlagSpec): string => {
    const { value, choices, long } = flag;
    if (value === undefined) return "";
    const names = nameCommandOf(flag);
    if (names !== undefined) return `:${long}:_switchyard_names "${names}"`;
    return choices === undefined ? `:${long}:_files` : `:${long}:(${choices.join(" ")})`;
  };
  const spec = (flag: FlagSpec): string =>
    spellings(flag)
      .map((spelling) => `'${flag.multiple ? "*" : ""}${spelling}[${quote(flag.help)}]${argument(flag)}'`)
      .join(" ");
  const line = ({ name, flags, operandChoices }: Verb): string => {
    const operand = operandChoices === undefined ? "" : ` '1:operand:(${operandChoices.join(" ")})'`;
    return `    ${name}) _arguments ${[...flags, "help" as const].map((flag) => spec(flagSpecs[flag])).join(" ")}${operand} ;;`;
  };
  return `#compdef switchyard
_switchyard_names() {
  local -a names=(\${(f)"$(eval "$1")"})
  compadd -a names
}
_switchyard() {
  if ((CURRENT == 2)); then
    local -a verbs=(${verbs.map(({ name, summary }) => `'${name}:${quote(summary)}'`).join(" ")})
    _describe verb verbs
    return
  fi
  local verb=$words[2]
  shift words
  ((CURRENT--))
  case $verb in
${verbs.map(line).join("\n")}
  esac
}
# Works from a file in fpath and from source <(switchyard completion zsh).
if [[ $funcstack[1] == _switchyard ]]; then _switchyard "$@"; else compdef _switchyard switchyard; fi
`;
}

function fish(verbs: readonly Verb[]): string {
  const command = "complete -c switchyard";
  const of = (name: string): string => `${command} -n '__fish_seen_subcommand_from ${name}'`;
  const flag = (name: string, spec: FlagSpec): string => {
    const { long, short, value, choices, help } = spec;
    const names = nameCommandOf(spec);
    if (names !== undefined)
      return `${of(name)}${short === undefined ? "" : ` -s ${short}`} -l ${long} -x -a '(${names})' -d '${quote(help)}'`;
    const argument = choices === undefined ? (value === undefined ? "" : " -r -F") : ` -x -a '${choices.join(" ")}'`;
    const letter = short === undefined ? "" : ` -s ${short}`;
    return `${of(name)}${letter} -l ${long}${argument} -d '${quote(help)}'`;
  };
  const lines = verbs.flatMap(({ name, summary, flags, operandChoices = [] }) => [
    `${command} -n __fish_use_subcommand -a ${name} -d '${quote(summary)}'`,
    ...[...flags, "help" as const].map((one) => flag(name, flagSpecs[one])),
    ...operandChoices.map((choice) => `${command} -n '__fish_seen_subcommand_from ${name}' -a ${choice}`),
  ]);
  return `# fish completion for switchyard\n${command} -f\n${lines.join("\n")}\n`;
}

/**
 * kubectl runs kubectl_complete-switchyard with the words after the plugin's name, the last of which is the one to complete. It prints
 * completions, one a line, then a directive: ":4" for no names of files, ":0" for them.
 */
function kubectl(verbs: readonly Verb[]): string {
  return `#!/usr/bin/env bash
# Completion of "kubectl switchyard": save it as kubectl_complete-switchyard in the PATH, as an executable file.
complete() { :; }
${bash(verbs)}
COMP_WORDS=(switchyard "$@")
COMP_CWORD=$#
_switchyard
((\${#COMPREPLY[@]})) && printf '%s\\n' "\${COMPREPLY[@]}"
echo :4
`;
}

function wordsOf({ flags, operandChoices = [] }: Verb): readonly string[] {
  return [...operandChoices, ...flags.flatMap((flag) => spellings(flagSpecs[flag])), "--help"];
}

function spellings({ long, short }: FlagSpec): readonly string[] {
  return short === undefined ? [`--${long}`] : [`-${short}`, `--${long}`];
}

/** Removes characters that are special in single quotes or in zsh's brackets. */
function quote(text: string): string {
  return text.replaceAll("'", "").replaceAll("`", "").replaceAll("[", "(").replaceAll("]", ")").replaceAll(":", " -");
}
