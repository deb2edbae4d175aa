// SPDX-License-Identifier: Apache-2.0
/**
 * Texts that are generated from the description of the chart's values: values.yaml, its schema, and the defaults that the
 * templates fill in where Helm passes no value.
 */
import { stringify } from "yaml";
import type { Group, Json, Schema, Value } from "./value-tree.ts";

const indentation = "  ";
const width = 120;

/** values.yaml, with the help as comments. */
export function toValuesYaml(root: Group): string {
  return Object.entries(root.values)
    .map(([key, node]) => nodeYaml(key, node, 0))
    .join("\n");
}

/**
 * The JSON schema of the values. Helm checks it before it renders anything. Groups are open, because values files of upstream's
 * chart have keys that its templates ignore. The notes of the chart name keys that it does not know.
 */
export function toSchema(root: Group): Schema {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Values of the chart switchyard",
    ...groupSchema(root),
  };
}

/** The defaults by path, without those for which null means none. */
export function toDefaults(root: Group): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    leaves(root)
      .filter(({ leaf }) => !leaf.isNullable && leaf.default !== null)
      .map(({ path, leaf }) => [path.join("."), leaf.default]),
  );
}

/** The keys of each group that is not open, by its path; "" is the root. */
export function toKnownKeys(group: Group, path = ""): Readonly<Record<string, readonly string[]>> {
  const below = Object.entries(group.values).map(([key, node]) =>
    node.node === "group" ? toKnownKeys(node, path === "" ? key : `${path}.${key}`) : {},
  );
  return Object.assign({}, group.isOpen ? {} : { [path]: Object.keys(group.values) }, ...below) as Readonly<
    Record<string, readonly string[]>
  >;
}

/** All values with their paths, in the order of the description. */
export function leaves(
  root: Group,
  prefix: readonly string[] = [],
): readonly { path: readonly string[]; leaf: Value }[] {
  return Object.entries(root.values).flatMap(([key, node]) => {
    const path = [...prefix, key];
    return node.node === "group" ? leaves(node, path) : [{ path, leaf: node }];
  });
}

function groupSchema({ help, values }: Group): Schema {
  return {
    type: "object",
    ...(help !== "" && { description: help }),
    properties: Object.fromEntries(
      Object.entries(values).map(([key, node]) => [
        key,
        node.node === "group" ? groupSchema(node) : { description: node.help, ...node.schema },
      ]),
    ),
  };
}

function nodeYaml(key: string, node: Group | Value, depth: number): string {
  const indent = indentation.repeat(depth);
  const comment = wrap(node.help, width - indent.length - 2)
    .map((line) => `${indent}# ${line}\n`)
    .join("");
  if (node.node === "value") {
    const yaml = stringify({ [key]: node.default }, { lineWidth: 0 }).trimEnd();
    const lead = node.isCommented || node.default === null ? `${indent}# ` : indent;
    return `${comment}${yaml.replaceAll(/^/gm, lead)}\n`;
  }
  const children = Object.entries(node.values).map(([name, child]) => nodeYaml(name, child, depth + 1));
  const isEmpty = Object.values(node.values).every((child) => child.node === "value" && child.isCommented);
  return `${comment}${indent}${key}:${isEmpty ? " {}" : ""}\n${children.join("")}`;
}

function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ").filter((part) => part !== "")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
