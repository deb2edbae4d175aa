// SPDX-License-Identifier: Apache-2.0
/**
 * fieldHints says what is probably meant by a field that the API server refuses. Its answers name the field and the rule, and
 * cannot be changed.
 */
import { schemas, type StructuralSchema } from "@switchyard/api";
import { nearestName } from "@switchyard/policy";
import type { CrdResult } from "../crd/check-against-crd.ts";
import { isJsonObject, type Manifest } from "../json.ts";
import { splitPath } from "./split-path.ts";

/** One sentence for each field with a hint, in the order of the problems. */
export function fieldHints(
  { kind, object }: Manifest,
  { unknownFields, problems }: Pick<CrdResult, "unknownFields" | "problems">,
): readonly string[] {
  const schema = schemas[kind];
  if (schema === undefined) return [];
  const hints = [
    ...unknownFields.map((field) => unknownFieldHint(schema, object, field)),
    ...problems.map(({ field }) => typeHint(schema, object, field)),
  ];
  return [...new Set(hints.filter((hint) => hint !== undefined))];
}

/** A field that does not exist, below a text or an object: a part of the text without quotes, or another name. */
function unknownFieldHint(schema: StructuralSchema, object: unknown, field: string): string | undefined {
  const { schema: parent, path, name } = splitPath(schema, field);
  const ofMap = mapHint(parent, field);
  if (ofMap !== undefined) return ofMap;
  if (field === "spec.bridge.ovs.bridge.name") {
    return "a bridge cannot be given a name: Switchyard names it after its PF; spec.bridge.ovs: {} creates it";
  }
  if (parent.type === "string") return typeHint(schema, object, path);
  const names = Object.keys(parent.properties ?? {});
  const own = ownNames[name];
  if (own !== undefined && names.includes(own)) return `did you mean ${path}.${own} instead of ${path}.${name}?`;
  if (names.includes("matchLabels")) return `${path} is a label selector: write its labels under ${path}.matchLabels`;
  const alike = names.find((known) => known.toLowerCase() === name.toLowerCase()) ?? nearestName(name, names);
  const within = path === "" ? "" : `${path}.`;
  if (alike !== undefined) return `did you mean ${within}${alike} instead of ${within}${name}?`;
  return names.length === 0 || path === "" ? undefined : `${path} has ${fieldsOf(parent)}`;
}

/** Names of the same thing in SR-IOV policies and elsewhere, and in policies for AF_XDP. */
const ownNames: Readonly<Record<string, string>> = {
  resourceName: "poolName",
  numVfs: "numSfs",
  numDevices: "numSfs",
  pool: "poolName",
};

/** A label selector where the API has a map of labels. */
function mapHint({ type }: StructuralSchema, field: string): string | undefined {
  const map = /^(.*\.nodeSelector)\.match(?:Labels|Expressions)\b/.exec(field)?.[1];
  if (map === undefined || type !== "string") return undefined;
  return `${map} is a map of labels: write them directly under ${map}, without matchLabels`;
}

/** A value of another type than the field has. Undefined if the type is right, or the field does not exist. */
function typeHint(root: StructuralSchema, object: unknown, field: string): string | undefined {
  const { schema, name } = splitPath(root, field);
  if (name !== "") return undefined;
  const ofMap = mapHint(schema, field);
  if (ofMap !== undefined) return ofMap;
  const value = valueAt(object, field);
  const { type, enum: choices = [], properties } = schema;
  const key = field.slice(field.lastIndexOf(".") + 1);
  if (type === "string" && typeof value === "boolean" && choices.includes("on")) {
    return `YAML reads on and off as true and false: write them in quotes, as in ${key}: "${value ? "on" : "off"}"`;
  }
  if (type === "string" && (typeof value === "number" || typeof value === "boolean")) {
    return `${field} is a text: write it in quotes, as in ${key}: "${String(value)}"`;
  }
  if (type === "string" && typeof value === "object" && value !== null) {
    return `${field} is a text: write its JSON in single quotes, as in ${key}: '{"type": "host-local"}', or as a block after "${key}: |"`;
  }
  if ((type === "integer" || type === "boolean") && typeof value === "string") {
    const plain = type === "integer" ? /^-?\d{1,10}$/ : /^(?:true|false)$/;
    if (plain.test(value)) return `write ${key}: ${value} without quotes`;
    return type === "integer" ? numberHint(root, field) : `${field} is true or false`;
  }
  const example = requiredExamples[key];
  if (value === undefined && example !== undefined) return `write ${example}`;
  const { items } = schema;
  if (type === "array" && isObjectSchema(items) && value !== undefined && !Array.isArray(value)) {
    return `${field} is a list of objects with ${fieldsOf(items)}: begin each with "- "`;
  }
  if (type === "array" && value !== undefined && !Array.isArray(value)) {
    return `${field} is a list: write each value on a line of its own after "- "`;
  }
  if (type === "object" && properties !== undefined && value !== undefined && !isJsonObject(value)) {
    return `${field} is an object with ${fieldsOf(schema)}`;
  }
  return undefined;
}

/** Fields that an object cannot be without, as most people need them. */
const requiredExamples: Readonly<Record<string, string>> = {
  nodeSelector: 'nodeSelector: { node-role.kubernetes.io/worker: "" }, or other labels of the nodes',
  nicSelector: "nicSelector: { pfNames: [NAME] } with a name from switchyard nics",
  numVfs: "numVfs: 8, or another number up to what switchyard nics shows for the port",
  resourceName: "resourceName: NAME, by which pods request the VFs",
  poolName: "poolName: NAME, by which pods request the devices",
};

/** What a number says, for people who wrote a text. */
const meanings: Readonly<Record<string, string>> = {
  maxTxRate: "of Mb/s (10000 for 10 Gb/s)",
  minTxRate: "of Mb/s (10000 for 10 Gb/s)",
  mtu: "of bytes, such as 9000",
  numVfs: "of VFs (switchyard nics shows how many each port supports)",
  vlan: "from 0 to 4094",
  logLevel: "from 0 to 2 (the larger, the more is logged)",
};

function numberHint(root: StructuralSchema, field: string): string {
  const key = field.slice(field.lastIndexOf(".") + 1);
  const { schema: parent } = splitPath(root, field.slice(0, Math.max(0, field.lastIndexOf("."))));
  const meaning = meanings[key];
  const several = key === "vlan" && Object.hasOwn(parent.properties ?? {}, "trunk");
  return [
    `${field} is one number${meaning === undefined ? "" : ` ${meaning}`}, without quotes and without a unit`,
    ...(several ? ["several VLANs are spec.trunk: [{ minID: 100, maxID: 200 }]"] : []),
  ].join("; ");
}

function isObjectSchema(schema: StructuralSchema | undefined): schema is StructuralSchema {
  return schema?.type === "object" && schema.properties !== undefined;
}

function fieldsOf({ properties = {} }: StructuralSchema): string {
  const names = Object.keys(properties);
  return names.length === 1 ? `the field ${names.join("")}` : `the fields ${names.join(", ")}`;
}

/** The value at a path such as "spec.trunk[0].id"; undefined if there is none. Keys must not contain dots or brackets. */
function valueAt(object: unknown, path: string): unknown {
  let value = object;
  for (const key of path.split(/[.[\]]+/).filter((part) => part !== "")) {
    if (Array.isArray(value)) value = /^\d{1,6}$/.test(key) ? (value[Number(key)] as unknown) : undefined;
    else value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}
