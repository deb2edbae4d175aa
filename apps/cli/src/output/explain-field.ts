// SPDX-License-Identifier: Apache-2.0
/** explainField returns the documentation of a kind or field from the schema in its CRD. */
import { customResources, err, ok, schemas, type Result, type StructuralSchema } from "@switchyard/api";
import { nearestName } from "@switchyard/policy";
import { wrap } from "../text.ts";

/** The text ends with a newline. The error says which names are valid. */
export function explainField(text: string, width: number): Result<string, string> {
  const [kindName = "", ...fields] = text.split(".");
  const resource = customResources.find(({ kind, plural }) =>
    [kind.toLowerCase(), plural].includes(kindName.toLowerCase()),
  );
  const root = resource === undefined ? undefined : schemas[resource.kind];
  if (resource === undefined || root === undefined) return err(unknownKind(kindName, fields));
  const path: string[] = [];
  let [schema, isRequired] = [root, false];
  for (const [index, field] of fields.entries()) {
    const owner = valueSchema(schema);
    const properties = owner.properties ?? {};
    const names = Object.keys(properties);
    const name = names.find((known) => known.toLowerCase() === field.toLowerCase());
    const next = name === undefined ? undefined : properties[name];
    if (name === undefined || next === undefined) {
      const where = [resource.kind, ...path.slice(0, index)].join(".");
      return err(`${where} has no field "${field}"; ${fieldHint(field, names)}`);
    }
    isRequired = (owner.required ?? []).includes(name);
    schema = next;
    path.push(name);
  }
  const head = [`KIND:     ${resource.kind}`, `VERSION:  ${resource.group}/${resource.version}`, ""];
  const field = path.at(-1);
  if (field !== undefined) head.push(`FIELD: ${fieldLine(field, schema, isRequired)}`, "");
  return ok([...head, ...body(schema, width)].join("\n"));
}

/** `name` may be a field without its kind. */
function unknownKind(name: string, rest: readonly string[]): string {
  const kinds = customResources.map(({ kind }) => kind);
  const [first, ...others] = fieldsNamed(rest.at(-1) ?? name);
  if (first !== undefined) {
    const more = others.length === 0 ? "" : ` (or ${others.join(", ")})`;
    return `unknown kind "${name}"; did you mean ${first}${more}?`;
  }
  const alike = nearestName(name, kinds);
  return `unknown kind "${name}"; ${alike === undefined ? `kinds are ${kinds.join(", ")}` : `did you mean ${alike}?`}`;
}

/** Fields of any spec with this name, in upper or lower case: "SriovNetworkNodePolicy.spec.numVfs". At most four. */
function fieldsNamed(name: string): readonly string[] {
  const found = customResources.flatMap(({ kind }) => {
    const fields = Object.keys(schemas[kind]?.properties?.["spec"]?.properties ?? {});
    return fields.filter((field) => field.toLowerCase() === name.toLowerCase()).map((field) => `${kind}.spec.${field}`);
  });
  return found.slice(0, 4);
}

function fieldHint(field: string, names: readonly string[]): string {
  if (names.length === 0) return "it has no fields";
  const alike = nearestName(field, names);
  return alike === undefined ? `its fields are ${names.join(", ")}` : `did you mean ${alike}?`;
}

function body(schema: StructuralSchema, width: number): readonly string[] {
  const constraints = constraintsOf(schema);
  const { properties = {}, required = [] } = valueSchema(schema);
  const fields = Object.entries(properties).flatMap(([name, member]) => [
    `  ${fieldLine(name, member, required.includes(name))}`,
    ...wrap(member.description ?? "", width - 6).map((line) => `      ${line}`),
    "",
  ]);
  return [
    "DESCRIPTION:",
    ...indented(schema.description ?? "Standard Kubernetes object metadata.", width),
    "",
    ...(constraints.length === 0 ? [] : ["RULES:", ...constraints.flatMap((text) => bullet(text, width)), ""]),
    ...(fields.length === 0 ? [] : ["FIELDS:", ...fields]),
  ];
}

/** For a list or map, the schema of its values. */
function valueSchema(schema: StructuralSchema): StructuralSchema {
  const inner = schema.items ?? schema.additionalProperties;
  return inner === undefined ? schema : valueSchema(inner);
}

function fieldLine(name: string, schema: StructuralSchema, isRequired: boolean): string {
  return `${name} <${typeName(schema)}>${isRequired ? " -required-" : ""}`;
}

function typeName(schema: StructuralSchema): string {
  if (schema["x-kubernetes-int-or-string"] === true) return "integer or string";
  if (schema.items !== undefined) return `[]${typeName(schema.items)}`;
  if (schema.additionalProperties !== undefined) return `map[string]${typeName(schema.additionalProperties)}`;
  return schema.type === "object" ? "Object" : (schema.type ?? "any");
}

/** Describes the constraints of the schema and its rules. */
function constraintsOf(schema: StructuralSchema): readonly string[] {
  const { enum: choices, minimum, maximum, maxLength, maxItems, maxProperties, pattern } = schema;
  const fallback = schema.default;
  return [
    ...(fallback === undefined ? [] : [`default: ${JSON.stringify(fallback)}`]),
    ...(choices === undefined ? [] : [`one of ${choices.map((choice) => JSON.stringify(choice)).join(", ")}`]),
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(maximum === undefined ? [] : [`at most ${maximum}`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(maxItems === undefined ? [] : [`at most ${maxItems} items`]),
    ...(maxProperties === undefined ? [] : [`at most ${maxProperties} entries`]),
    ...(pattern === undefined ? [] : [`matches ${pattern}`]),
    ...(schema.items === undefined ? [] : constraintsOf(schema.items).map((constraint) => `each item: ${constraint}`)),
    ...(schema["x-kubernetes-validations"] ?? []).map(({ message, rule, fieldPath }) =>
      [fieldPath?.slice(1), message ?? rule].filter((part) => part !== undefined).join(": "),
    ),
  ];
}

function bullet(text: string, width: number): readonly string[] {
  return wrap(text, width - 4).map((line, index) => `  ${index === 0 ? "-" : " "} ${line}`);
}

function indented(text: string, width: number): readonly string[] {
  return wrap(text, width - 2).map((line) => `  ${line}`);
}
