// SPDX-License-Identifier: Apache-2.0
/** explainField returns the documentation of a kind or field from the schema in its CRD. */
import { customResources, err, ok, schemas, type Result, type StructuralSchema } from "@switchyard/api";
import { wrap } from "../text.ts";

const width = 80;

/** The text ends with a newline. The error says which names are valid. */
export function explainField(path: string): Result<string, string> {
  const [kindName = "", ...fields] = path.split(".");
  const resource = customResources.find(({ kind, plural }) =>
    [kind.toLowerCase(), plural].includes(kindName.toLowerCase()),
  );
  const root = resource === undefined ? undefined : schemas[resource.kind];
  if (resource === undefined || root === undefined) {
    return err(`unknown kind "${kindName}"; kinds are ${customResources.map(({ kind }) => kind).join(", ")}`);
  }
  let [schema, isRequired] = [root, false];
  for (const [index, field] of fields.entries()) {
    const owner = valueSchema(schema);
    const properties = owner.properties ?? {};
    const next = Object.hasOwn(properties, field) ? properties[field] : undefined;
    if (next === undefined) {
      const where = [resource.kind, ...fields.slice(0, index)].join(".");
      const names = Object.keys(properties);
      return err(
        `${where} has no field "${field}"; ${names.length === 0 ? "it has no fields" : `its fields are ${names.join(", ")}`}`,
      );
    }
    isRequired = (owner.required ?? []).includes(field);
    schema = next;
  }
  const head = [`KIND:     ${resource.kind}`, `VERSION:  ${resource.group}/${resource.version}`, ""];
  const field = fields.at(-1);
  if (field !== undefined) head.push(`FIELD: ${fieldLine(field, schema, isRequired)}`, "");
  return ok([...head, ...body(schema)].join("\n"));
}

function body(schema: StructuralSchema): readonly string[] {
  const constraints = constraintsOf(schema);
  const { properties = {}, required = [] } = valueSchema(schema);
  const fields = Object.entries(properties).flatMap(([name, member]) => [
    `  ${fieldLine(name, member, required.includes(name))}`,
    ...wrap(member.description ?? "", width - 6).map((line) => `      ${line}`),
    "",
  ]);
  return [
    "DESCRIPTION:",
    ...indented(schema.description ?? "Standard Kubernetes object metadata."),
    "",
    ...(constraints.length === 0 ? [] : ["RULES:", ...constraints.flatMap(bullet), ""]),
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

function bullet(text: string): readonly string[] {
  return wrap(text, width - 4).map((line, index) => `  ${index === 0 ? "-" : " "} ${line}`);
}

function indented(text: string): readonly string[] {
  return wrap(text, width - 2).map((line) => `  ${line}`);
}
