// SPDX-License-Identifier: Apache-2.0
/**
 * The fields of a network that hold JSON: read once, as values, so that nothing a user writes can be more than a value
 * (sriov-operator.md M-16).
 * Usage: `const texts = readNetworkTexts(network.spec); if (!texts.ok) return texts.error`.
 */
import { err, ok, type NetworkSpec, type Result } from "@switchyard/api";
import { jsonObject, type JsonObject } from "./json.ts";
import { parseJsonObject, parseJsonObjects, type JsonProblem } from "./parse-json.ts";
import { configTooLarge, maxConfigBytes } from "./config-size.ts";

/** What the fields say. */
export interface NetworkTexts {
  /** Undefined where none are given. */
  readonly capabilities: JsonObject | undefined;
  /** Without members where no addresses are wanted. */
  readonly ipam: JsonObject;
  readonly metaPlugins: readonly JsonObject[];
}

/** One thing that keeps a network from being rendered. */
export interface NetworkProblem {
  readonly code: "bad-json" | "no-plugin-type" | "no-bridge" | "too-large";
  /** "spec.ipam" */
  readonly field: string;
  /** What is wrong and what would be right. Does not name the field. */
  readonly message: string;
  /** Where in the field's text; with "bad-json" only. */
  readonly at?: JsonProblem;
}

/** Reads all three fields; empty ones are absent. On failure: everything that is wrong with them. */
export function readNetworkTexts(spec: NetworkSpec): Result<NetworkTexts, readonly NetworkProblem[]> {
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

/** Before it is parsed, so that a text costs no more than one that fits. */
function lengthProblem(field: (typeof textFields)[number], text: string): readonly NetworkProblem[] {
  if (text.length <= maxConfigBytes) return [];
  return [{ code: "too-large", field: `spec.${field}`, message: configTooLarge(text.length) }];
}

function badJson(field: string, at: JsonProblem): NetworkProblem {
  const { line, column, path, expected } = at;
  const where = path.length <= longestPath ? path : `${path.slice(0, longestPath)}...`;
  const message = `is not the JSON that it must be: at line ${line}, column ${column}${where && ` (${where})`} there must be ${expected}`;
  return { code: "bad-json", field, message, at };
}

/** Names in a path are user text of any length. */
const longestPath = 100;

/** Without a type no runtime knows which plugin to run. */
function pluginProblems(plugins: readonly JsonObject[]): readonly NetworkProblem[] {
  const without = plugins.flatMap(({ members }, index) => {
    const type = members.get("type");
    return typeof type === "string" && type !== "" ? [] : [`plugin ${index + 1}`];
  });
  const [more, shown] = [without.slice(mostPlugins).length, without.slice(0, mostPlugins)];
  const names = more === 0 ? shown : [...shown, `${more} more plugins`];
  return names.map((name) => {
    const message = `has no type in ${name}: {"type": "tuning"} is one`;
    return { code: "no-plugin-type", field: "spec.metaPlugins", message };
  });
}

const mostPlugins = 3;
