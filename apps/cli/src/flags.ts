// SPDX-License-Identifier: Apache-2.0
/** flagSpecs describes all flags, and parseFlags reads those that a verb supports. */
import { defined } from "@switchyard/api";
import { parseArgs } from "node:util";
import { CliError } from "./terminal.ts";
import { clusterDefaults } from "./defaults.ts";

export type OutputFormat = "yaml" | "json" | "text";
/** Formats of verbs that also make a page. */
export type PageFormat = OutputFormat | "html";
export type RowsFormat = PageFormat | "wide";
export type Operation = "CREATE" | "UPDATE" | "DELETE";
export type ClusterType = "kubernetes" | "openshift";

/** The values of all flags, with defaults. */
export interface Flags {
  readonly filename: readonly string[];
  readonly existing: readonly string[];
  readonly context: string | undefined;
  readonly kubeconfig: string | undefined;
  readonly output: OutputFormat | undefined;
  /** --output of verbs that also make a page. */
  readonly pageOutput: PageFormat | undefined;
  /** --output of verbs that print rows. */
  readonly rowsOutput: RowsFormat | undefined;
  readonly namespace: string;
  /** Whether the namespace is that of the flag, and not the default. */
  readonly isNamespaceGiven: boolean;
  readonly resourcePrefix: string;
  readonly clusterType: ClusterType;
  readonly only: readonly string[];
  readonly manifests: boolean;
  readonly claims: boolean;
  readonly operation: Operation;
  readonly node: string | undefined;
  readonly resource: string | undefined;
  readonly pod: string | undefined;
  readonly detailedExitcode: boolean;
  readonly watch: boolean;
  readonly supported: boolean;
  readonly helmVersion: string | undefined;
  readonly network: string | undefined;
  readonly policy: string | undefined;
  /** --node of verbs that take several. */
  readonly nodes: readonly string[];
  readonly isolatedFrom: string | undefined;
  readonly throughput: boolean;
  readonly image: string | undefined;
  /** In seconds. */
  readonly timeout: string;
  readonly help: boolean;
}

/** The flags; isNamespaceGiven is derived from one. */
export type FlagName = Exclude<keyof Flags, "isNamespaceGiven">;

/** The description of a flag, for the parser, the help and the completion scripts. */
export interface FlagSpec {
  /** Without the dashes. */
  readonly long: string;
  readonly short?: string | undefined;
  /** Placeholder of the value in the help; absent for a boolean flag. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly multiple?: true;
  readonly default?: string;
  readonly help: string;
}

export const flagSpecs: Readonly<Record<FlagName, FlagSpec>> = {
  filename: {
    long: "filename",
    short: "f",
    value: "FILE|DIR|-",
    multiple: true,
    help: "File, directory (read recursively) or tar archive with objects in YAML or JSON, or - for standard input. Repeatable.",
  },
  existing: {
    long: "existing",
    value: "FILE|DIR",
    multiple: true,
    help: "File or directory with objects that exist in the cluster. Repeatable.",
  },
  context: {
    long: "context",
    value: "NAME",
    help: "Read objects from the cluster of this kubeconfig context.",
  },
  kubeconfig: {
    long: "kubeconfig",
    value: "FILE",
    help: "Read objects from the cluster of this kubeconfig file.",
  },
  output: { long: "output", short: "o", value: "FORMAT", choices: ["yaml", "json", "text"], help: "Output format." },
  pageOutput: {
    long: "output",
    short: "o",
    value: "FORMAT",
    choices: ["yaml", "json", "text", "html"],
    help: "Output format; html is a page in one file.",
  },
  rowsOutput: {
    long: "output",
    short: "o",
    value: "FORMAT",
    choices: ["yaml", "json", "text", "wide", "html"],
    help: "Output format; wide is text with all columns, html is a page in one file.",
  },
  namespace: {
    long: "namespace",
    short: "n",
    value: "NS",
    default: clusterDefaults.namespace,
    help: "Namespace of the operator. Objects without a namespace belong to it.",
  },
  resourcePrefix: {
    long: "resource-prefix",
    value: "PREFIX",
    default: clusterDefaults.resourcePrefix,
    help: "Prefix of resource names, the part before the slash.",
  },
  clusterType: {
    long: "cluster-type",
    value: "TYPE",
    default: clusterDefaults.clusterType,
    choices: ["kubernetes", "openshift"],
    help: "Type of the cluster.",
  },
  only: { long: "only", value: "KIND[,KIND]", multiple: true, help: "Print only objects of these kinds. Repeatable." },
  manifests: {
    long: "manifests",
    help: "Also print what the operator deploys: DaemonSets, RBAC and webhook configurations. Images come from the operator's environment variables, such as SRIOV_CNI_IMAGE, if they are set.",
  },
  claims: {
    long: "claims",
    help: "Also print ResourceClaimTemplates for pairs of a VF and a device of another driver, such as a GPU, on one PCIe root. The DeviceClasses and ResourceSlices of the other driver must be in the input.",
  },
  operation: {
    long: "operation",
    value: "VERB",
    default: "CREATE",
    choices: ["CREATE", "UPDATE", "DELETE"],
    help: "Operation on the objects. For UPDATE, the old objects come from --existing or from the cluster.",
  },
  node: { long: "node", value: "NAME", help: "Print only this node." },
  resource: { long: "resource", value: "NAME", help: "Print only this resource, with or without its prefix." },
  pod: { long: "pod", value: "[NS/]NAME", help: "Print only what this pod has." },
  detailedExitcode: { long: "detailed-exitcode", help: "Exit with 2 if there are changes to make." },
  watch: { long: "watch", short: "w", help: "Print all VFs, and then each VF that changes, until Ctrl-C." },
  supported: { long: "supported", help: "List the NICs that Switchyard supports, without a cluster." },
  helmVersion: {
    long: "helm-version",
    value: "VERSION",
    help: "Version of Helm that upgrades the release: the output of helm version --short.",
  },
  network: { long: "network", value: "[NS/]NAME", help: "Verify this network, such as a SriovNetwork." },
  policy: { long: "policy", value: "NAME", help: "Verify all networks with the resource of this policy." },
  nodes: { long: "node", value: "NAME", multiple: true, help: "Verify only this node. Repeatable." },
  isolatedFrom: {
    long: "isolated-from",
    value: "[NS/]NAME",
    help: "Network in another VLAN, whose pods must not receive anything. By default, one with the same resource.",
  },
  throughput: { long: "throughput", help: "Also send a TCP stream for 5 seconds from pod to pod." },
  image: {
    long: "image",
    value: "IMAGE",
    help: "Image of the pods, with Node.js 22 or later as node in the PATH. By default, that of the config daemon.",
  },
  timeout: {
    long: "timeout",
    value: "SECONDS",
    default: "120",
    help: "Time for the pods to start, and again for them to send.",
  },
  help: { long: "help", short: "h", help: "Print this help." },
};

/** Flags and operands may be mixed. Throws CliError "usage" for a flag that is not in `supported` or has an invalid value. */
export function parseFlags(
  argv: readonly string[],
  supported: readonly FlagName[],
): { readonly flags: Flags; readonly operands: readonly string[] } {
  const specs = supported.map((name) => flagSpecs[name]);
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
  /** A verb supports one of the flags that are called --output. */
  function formatOf<T extends string>(name: FlagName, isFormat: (value: string) => value is T): T | undefined {
    return supported.includes(name) ? choose(name, one(name), isFormat) : undefined;
  }

  const flags: Flags = {
    filename: all("filename"),
    existing: all("existing"),
    context: one("context"),
    kubeconfig: one("kubeconfig"),
    output: formatOf("output", isOutputFormat),
    pageOutput: formatOf("pageOutput", isPageFormat),
    rowsOutput: formatOf("rowsOutput", isRowsFormat),
    namespace: one("namespace") ?? "",
    isNamespaceGiven: all("namespace").length > 0,
    resourcePrefix: one("resourcePrefix") ?? "",
    clusterType: choose("clusterType", one("clusterType"), isClusterType) ?? clusterDefaults.clusterType,
    only: all("only").flatMap((kinds) => kinds.split(",").map((kind) => kind.trim())),
    manifests: isOn("manifests"),
    claims: isOn("claims"),
    operation: choose("operation", one("operation"), isOperation) ?? "CREATE",
    node: one("node"),
    resource: one("resource"),
    pod: one("pod"),
    detailedExitcode: isOn("detailedExitcode"),
    watch: isOn("watch"),
    supported: isOn("supported"),
    helmVersion: one("helmVersion"),
    network: one("network"),
    policy: one("policy"),
    nodes: supported.includes("nodes") ? all("nodes") : [],
    isolatedFrom: one("isolatedFrom"),
    throughput: isOn("throughput"),
    image: one("image"),
    timeout: one("timeout") ?? "",
    help: isOn("help"),
  };
  return { flags, operands: positionals };
}

function parse(argv: readonly string[], specs: readonly FlagSpec[]) {
  const options = Object.fromEntries(
    specs.map(({ long, short, value }) => [
      long,
      // Every flag with a value may be repeated; like kubectl, the last value counts if only one is used.
      {
        type: value === undefined ? ("boolean" as const) : ("string" as const),
        multiple: value !== undefined,
        ...defined({ short }),
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

function isPageFormat(value: string): value is PageFormat {
  return value === "html" || isOutputFormat(value);
}

function isRowsFormat(value: string): value is RowsFormat {
  return value === "wide" || isPageFormat(value);
}

function isClusterType(value: string): value is ClusterType {
  return value === "kubernetes" || value === "openshift";
}

function isOperation(value: string): value is Operation {
  return value === "CREATE" || value === "UPDATE" || value === "DELETE";
}
