// SPDX-License-Identifier: Apache-2.0
/**
 * The words in which the chart's values are described: groups, and values with a default, a schema and a sentence. values.yaml,
 * values.schema.json, the defaults that the templates fill in and the table of the docs are generated from the description.
 */

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON schema. */
export type Schema = Readonly<Record<string, Json>>;

/** One value that users set. */
export interface Value {
  readonly node: "value";
  /** Effective default. null: none. */
  readonly default: Json;
  readonly schema: Schema;
  /** Sentences for values.yaml and the docs. */
  readonly help: string;
  /** Type in the docs. */
  readonly type: string;
  /**
   * Whether values.yaml has the default only as a comment. Helm warns on each command if the default is a text and the
   * user's value an object, so values of both types have no default in values.yaml.
   */
  readonly isCommented: boolean;
  /**
   * Whether null means "none". Helm removes a value that the user sets to null, so the templates do not fill in its default.
   */
  readonly isNullable: boolean;
}

/** Values below a common key. */
export interface Group {
  readonly node: "group";
  readonly help: string;
  readonly values: Readonly<Record<string, Value | Group>>;
  /** Whether other keys are expected: of parent charts. */
  readonly isOpen: boolean;
}

export function group(help: string, values: Group["values"], { isOpen = false } = {}): Group {
  return { node: "group", help, values, isOpen };
}

interface ValueOptions {
  readonly isCommented?: boolean;
  readonly isNullable?: boolean;
}

export function value(
  type: string,
  defaultValue: Json,
  help: string,
  schema: Schema,
  options: ValueOptions = {},
): Value {
  const { isCommented = false, isNullable = false } = options;
  return { node: "value", default: defaultValue, schema, help, type, isCommented, isNullable };
}

export function text(defaultText: string, help: string, schema: Schema = {}): Value {
  return value("string", defaultText, help, { type: "string", ...schema });
}

export function yesNo(defaultValue: boolean, help: string): Value {
  return value("boolean", defaultValue, help, { type: "boolean" });
}

export function integer(defaultValue: number, help: string, limits: Schema = {}): Value {
  return value("integer", defaultValue, help, { type: "integer", ...limits });
}

/** A number that upstream's chart has as a text: both are accepted. */
export function digits(defaultText: string, help: string): Value {
  return value("integer or string", defaultText, help, {
    type: ["integer", "string"],
    pattern: "^[0-9]+$",
    minimum: 0,
  });
}

export function port(defaultPort: string, help: string): Value {
  const schema = { type: ["integer", "string"], pattern: "^[0-9]{1,5}$", minimum: 1, maximum: 65535 };
  return value("integer or string", defaultPort, help, schema);
}

export function oneOf(choices: readonly string[], help: string): Value {
  return value("string", choices[0] ?? "", `${help} One of ${choices.map((choice) => choice || '""').join(", ")}.`, {
    enum: choices,
  });
}

/** Texts by name: labels, annotations, node selectors. */
export function texts(help: string, defaultTexts: Readonly<Record<string, string>> = {}): Value {
  return value("object", defaultTexts, help, { type: "object", additionalProperties: { type: "string" } });
}

export function list(help: string, items: Schema, defaultItems: readonly Json[] = []): Value {
  return value("array", defaultItems, help, { type: "array", items });
}

/** A part of a Kubernetes object with these fields. */
export function kubeObject(
  fields: readonly string[],
  help: string,
  defaultValue: Json = {},
  options: ValueOptions = {},
): Value {
  return value("object", defaultValue, help, fieldsSchema(fields), options);
}

/** A list of parts of Kubernetes objects with these fields. */
export function kubeList(fields: readonly string[], help: string, defaultItems: readonly Json[] = []): Value {
  return list(help, fieldsSchema(fields), defaultItems);
}

function fieldsSchema(fields: readonly string[]): Schema {
  return {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field, {}])),
    additionalProperties: false,
  };
}
