// SPDX-License-Identifier: Apache-2.0
/** JSON that users write into `ipam` and `metaPlugins`. */
import { FuzzFinding, requireEqual, type FuzzTarget } from "@switchyard/testing/fuzz";
import { compactJson } from "./json.ts";
import { parseJsonObject, parseJsonObjects, type JsonProblem } from "./parse-json.ts";

function byJsonParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function checkPlace({ offset, line, column }: JsonProblem, text: string): void {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/);
  if (offset > text.length || line > before.length + 1 || column < 1)
    throw new FuzzFinding("the place of a problem is not in the text");
}

export const targets: readonly FuzzTarget[] = [
  {
    name: "network-json",
    seeds: [
      '{"type":"host-local","subnet":"10.0.0.0/8","routes":[{"dst":"0.0.0.0/0"}],"n":-1.5e3,"t":true,"x":null}',
      '{"a":"\\u00e4"},{"b":[]}',
    ],
    run(input) {
      const text = input.toString("utf8");
      const one = parseJsonObject(text);
      const reference = byJsonParse(text);
      if (one.ok && reference === undefined) throw new FuzzFinding("parseJsonObject accepts a text that is not JSON");
      if (!one.ok && isObject(reference) && one.error.code !== "too-deep")
        throw new FuzzFinding("parseJsonObject refuses a JSON object");
      if (one.ok) requireEqual("parseJsonObject and JSON.parse", JSON.parse(compactJson(one.value)), reference);
      else checkPlace(one.error, text);
      const list = parseJsonObjects(text);
      const listed = byJsonParse(`[${text}]`);
      if (list.ok) requireEqual("parseJsonObjects and JSON.parse", JSON.parse(compactJson(list.value)), listed);
      else checkPlace(list.error, text);
    },
  },
];
