// SPDX-License-Identifier: Apache-2.0
/**
 * Every flag there is; each verb names those that it takes, and gets them read and checked.
 * Usage: `const { flags, operands } = parseFlags(argv, ["filename", "output"])`.
 */
import { parseArgs } from "node:util";
import { CliError } from "./cli-error.ts";

export type OutputFormat = "yaml" | "json" | "text";
export type Operation = "CREATE" | "UPDATE" | "DELETE";
export type ClusterType = "kubernetes" | "openshift";

/** The values, with defaults. */
export interface Flags {
  readonly filename: readonly string[];
  readonly existing: readonly string[];
  readonly context: string | undefined;
  readonly kubeconfig: string | undefined;
  readonly output: OutputFormat | undefined;
  readonly namespace: string;
  readonly resourcePrefix: string;
  readonly clusterType: ClusterType;
  readonly only: readonly string[];
  readonly manifests: boolean;
  readonly operation: Operation;
  readonly node: string | undefined;
  readonly detailedExitcode: boolean;
  readonly help: boolean;
}

export type FlagName = keyof Flags;

/** How a flag is written and what it means, for the parser, help and completion alike. */
export interface FlagSpec {
  /** Without the dashes. */
  readonly long: string;
  readonly short?: string;
  /** What stands for the value in help; absent for a switch. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly multiple?: true;
  readonly default?: string;
  readonly help: string;
}

export const flagSpecs: Readonly<Record<FlagName, FlagSpec>> = {
  filename: {
    ...{ long: "filename", short: "f", value: "FILE|DIR|-", multiple: true },
    help: "Objects in YAML or JSON: a file, a directory with all below it, or - for standard input. Repeatable.",
  },
  existing: {
    ...{ long: "existing", value: "FILE|DIR", multiple: true },
    help: "Objects that are in the cluster already, as for -f. Repeatable.",
  },
  context: { long: "context", value: "NAME", help: "Read the objects from the cluster of this kubeconfig context." },
  kubeconfig: { long: "kubeconfig", value: "FILE", help: "Read the objects from the cluster of this kubeconfig." },
  output: { long: "output", short: "o", value: "FORMAT", choices: ["yaml", "json", "text"], help: "Output format." },
  namespace: {
    ...{ long: "namespace", short: "n", value: "NS", default: "sriov-network-operator" },
    help: "The operator's namespace; also that of objects which name none.",
  },
  resourcePrefix: {
    ...{ long: "resource-prefix", value: "PREFIX", default: "openshift.io" },
    help: "What pods write before resource names.",
  },
  clusterType: {
    ...{ long: "cluster-type", value: "TYPE", default: "kubernetes", choices: ["kubernetes", "openshift"] },
    help: "What the cluster is.",
  },
  only: { long: "only", value: "KIND[,KIND]", multiple: true, help: "Print objects of these kinds only." },
  manifests: {
    long: "manifests",
    help: "Print also what the operator deploys: DaemonSets, RBAC, webhooks. Images are those of the operator's variables (SRIOV_CNI_IMAGE and so on) where they are set.",
  },
  operation: {
    ...{ long: "operation", value: "VERB", default: "CREATE", choices: ["CREATE", "UPDATE", "DELETE"] },
    help: "What is done to the objects; for UPDATE the old ones come from --existing.",
  },
  node: { long: "node", value: "NAME", help: "Plan this node only." },
  detailedExitcode: { long: "detailed-exitcode", help: "Exit with 2 where there is something to do." },
  help: { long: "help", short: "h", help: "Show this." },
};

/** Flags and operands may be mixed. Throws CliError "usage" for a flag not in `taken` or a value that it cannot have. */
export function parseFlags(
  argv: readonly string[],
  taken: readonly FlagName[],
): { readonly flags: Flags; readonly operands: readonly string[] } {
  const specs = taken.map((name) => flagSpecs[name]);
  const { values, positionals } = parse(argv, specs);

  function all(name: FlagName): readonly string[] {
    const value = values[flagSpecs[name].long];
    return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
  }
  function one(name: FlagName): string | undefined {
    return all(name).at(-1) ?? flagSpecs[name].default;
  }
  function isOn(name: FlagName): boolean {
    return values[flagSpecs[name].long] === true;
  }

  const flags: Flags = {
    filename: all("filename"),
    existing: all("existing"),
    context: one("context"),
    kubeconfig: one("kubeconfig"),
    output: choose("output", one("output"), isOutputFormat),
    namespace: one("namespace") ?? "",
    resourcePrefix: one("resourcePrefix") ?? "",
    clusterType: choose("clusterType", one("clusterType"), isClusterType) ?? "kubernetes",
    only: all("only").flatMap((kinds) => kinds.split(",").map((kind) => kind.trim())),
    manifests: isOn("manifests"),
    operation: choose("operation", one("operation"), isOperation) ?? "CREATE",
    node: one("node"),
    detailedExitcode: isOn("detailedExitcode"),
    help: isOn("help"),
  };
  return { flags, operands: positionals };
}

function parse(argv: readonly string[], specs: readonly FlagSpec[]) {
  const options = Object.fromEntries(
    specs.map(({ long, short, value }) => [
      long,
      // All that take a value are multiple here: the last one holds where one is asked for, as with kubectl.
      {
        type: value === undefined ? ("boolean" as const) : ("string" as const),
        multiple: value !== undefined,
        ...(short === undefined ? {} : { short }),
      },
    ]),
  );
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
  } catch (cause) {
    if (!(typeof cause === "object" && cause !== null && "code" in cause && "message" in cause)) throw cause;
    if (typeof cause.code !== "string" || !cause.code.startsWith("ERR_PARSE_ARGS")) throw cause;
    const [firstSentence = ""] = String(cause.message).split(/\.(?: |$)/);
    throw new CliError("usage", firstSentence.replaceAll("'", '"'), { cause });
  }
}

function choose<T extends string>(
  name: FlagName,
  value: string | undefined,
  isChoice: (value: string) => value is T,
): T | undefined {
  if (value === undefined || isChoice(value)) return value;
  const { long, choices = [] } = flagSpecs[name];
  throw new CliError("usage", `--${long} must be one of ${choices.join(", ")}, not "${value}"`);
}

function isOutputFormat(value: string): value is OutputFormat {
  return value === "yaml" || value === "json" || value === "text";
}

function isClusterType(value: string): value is ClusterType {
  return value === "kubernetes" || value === "openshift";
}

function isOperation(value: string): value is Operation {
  return value === "CREATE" || value === "UPDATE" || value === "DELETE";
}
