// SPDX-License-Identifier: Apache-2.0
/**
 * readNetworkTexts parses the fields of a network that contain JSON. Later code only uses the parsed values, so a
 * user's text can never change the structure of the CNI configuration (sriov-operator.md M-16).
 * Usage: `const texts = readNetworkTexts(network.spec);`
 */
import { err, ok, type NetworkSpec, type Result } from "@switchyard/api";
import { jsonObject, type JsonObject } from "./json.ts";
import { parseJsonObject, parseJsonObjects, type JsonProblem } from "./parse-json.ts";

/**
 * Size limit of CNI configurations. A configuration is stored as a string in a NetworkAttachmentDefinition, where each
 * quote takes two bytes, and etcd rejects requests of more than 1.5 MiB.
 * Maximum size in bytes of UTF-8, without blanks.
 */
export const maxConfigBytes = 512 * 1024;

/** The parsed fields. */
export interface NetworkTexts {
  /** Undefined if the field is empty or absent. */
  readonly capabilities: JsonObject | undefined;
  /** An object without members if the field is empty or absent: then pods get no IP address. */
  readonly ipam: JsonObject;
  readonly metaPlugins: readonly JsonObject[];
}

/** A problem because of which a network cannot be rendered. */
export interface NetworkProblem {
  readonly code: "bad-json" | "no-plugin-type" | "no-bridge" | "no-vlan-filtering" | "too-large" | "unsuited-plugin";
  /** Path of the field: "spec.ipam". */
  readonly field: string;
  /** What is wrong and what to do. Does not name the field, which callers put before it. */
  readonly message: string;
  /** Position in the field's text; only with "bad-json". */
  readonly at?: JsonProblem;
}

/** Parses all three fields. Empty fields count as absent. If parsing fails, the result contains all problems. */
export function readNetworkTexts(
  spec: Pick<NetworkSpec, (typeof textFields)[number]>,
): Result<NetworkTexts, readonly NetworkProblem[]> {
  const tooLong = textFields.flatMap((field) => lengthProblem(field, spec[field] ?? ""));
  if (tooLong.length > 0) return err(tooLong);
  const capabilities = spec.capabilities ? parseJsonObject(spec.capabilities) : ok(undefined);
  const ipam = spec.ipam ? parseJsonObject(spec.ipam) : ok(jsonObject({}));
  const metaPlugins = spec.metaPlugins ? parseJsonObjects(spec.metaPlugins) : ok([]);
  if (capabilities.ok && ipam.ok && metaPlugins.ok) {
    const problems = pluginProblems(metaPlugins.value);
    if (problems.length > 0) return err(problems);
    return ok({ capabilities: capabilities.value, ipam: ipam.value, metaPlugins: metaPlugins.value });
  }
  return err([
    ...(capabilities.ok ? [] : [badJson("spec.capabilities", capabilities.error)]),
    ...(ipam.ok ? [] : [badJson("spec.ipam", ipam.error)]),
    ...(metaPlugins.ok ? pluginProblems(metaPlugins.value) : [badJson("spec.metaPlugins", metaPlugins.error)]),
  ]);
}

const textFields = ["capabilities", "ipam", "metaPlugins"] as const;

/** Checked before parsing, so that a large text does not take more time than one within the limit. */
function lengthProblem(field: (typeof textFields)[number], text: string): readonly NetworkProblem[] {
  if (text.length <= maxConfigBytes) return [];
  return [{ code: "too-large", field: `spec.${field}`, message: configTooLarge(text.length) }];
}

function badJson(field: string, at: JsonProblem): NetworkProblem {
  const { line, column, path, expected } = at;
  const where = path.length <= maxPathLength ? path : `${path.slice(0, maxPathLength)}...`;
  const message = `invalid JSON at line ${line}, column ${column}${where && ` (in ${where})`}: expected ${expected}`;
  return { code: "bad-json", field, message, at };
}

/** The names in a path come from the user and may be long. */
const maxPathLength = 100;

/** A container runtime finds a plugin by its type. */
function pluginProblems(plugins: readonly JsonObject[]): readonly NetworkProblem[] {
  const untyped = plugins.flatMap(({ members }, index) => {
    const type = members.get("type");
    return typeof type === "string" && type !== "" ? [] : [`plugin ${index + 1} has`];
  });
  const more = untyped.length - maxListedPlugins;
  const listed = untyped.slice(0, maxListedPlugins);
  return (more <= 0 ? listed : [...listed, more === 1 ? "1 more plugin has" : `${more} more plugins have`]).map(
    (subject) => {
      const message = `${subject} no type: add one, such as {"type": "tuning"}`;
      return { code: "no-plugin-type", field: "spec.metaPlugins", message };
    },
  );
}

const maxListedPlugins = 3;

/** Returns the message for a configuration of this size. The message does not name the field. */
export function configTooLarge(bytes: number): string {
  return `results in a CNI configuration of ${Math.ceil(bytes / 1024)} KiB; the limit is ${maxConfigBytes / 1024} KiB`;
}
