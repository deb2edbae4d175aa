// SPDX-License-Identifier: Apache-2.0
/**
 * readObject checks that JSON from a request has the shape of a kind, so that rules get values of the types that they
 * expect. It ignores bounds and enums: these belong to the CRD, which lets a stored object keep values that a newer CRD
 * refuses.
 */
import { reviewedKinds, type Problem, type ReviewedKind, type ReviewedKinds } from "@switchyard/admission";
import { customResources, defined, err, ok, schemas, type Result, type StructuralSchema } from "@switchyard/api";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";

/** Reads an object of a kind and fills in the defaults of its CRD. `value` is changed in place. */
export function readObject<Kind extends ReviewedKind>(
  kind: Kind,
  value: unknown,
): Result<ReviewedKinds[Kind], readonly Problem[]> {
  const validate = validatorOf(kind);
  return isValid(validate, value, kind) ? ok(value) : err((validate.errors ?? []).map(toProblem));
}

/** A new object with metadata.generateName has no name yet. */
const metadata: Shape = {
  type: "object",
  properties: { name: { type: "string", default: "" }, namespace: { type: "string" } },
};

// Stops at the first error: a list of 256 wrong items would fill the answer.
const ajv = new Ajv({ strict: false, useDefaults: true, ownProperties: true });

const validators = new Map<ReviewedKind, ValidateFunction>();
for (const kind of reviewedKinds) validatorOf(kind); // now, or the first review of each kind would wait for it

function validatorOf(kind: ReviewedKind): ValidateFunction {
  const known = validators.get(kind);
  if (known !== undefined) return known;
  const validate = compile(kind);
  validators.set(kind, validate);
  return validate;
}

function isValid<Kind extends ReviewedKind>(
  validate: ValidateFunction,
  value: unknown,
  _kind: Kind,
): value is ReviewedKinds[Kind] {
  return validate(value);
}

function compile(kind: ReviewedKind): ValidateFunction {
  const { properties, required = [], ...schema } = shapeOf(schemas[kind] ?? { type: "object" });
  // No rule reads the status, which can be large.
  const { status: _status, ...checked } = properties ?? {};
  const { group = "", version = "" } = customResources.find((type) => type.kind === kind) ?? {};
  const apiVersion = `${group}/${version}`;
  // Rules distinguish kinds by these two fields, which a review may contain only beside the object.
  const own = {
    apiVersion: { const: apiVersion, default: apiVersion },
    kind: { const: kind, default: kind },
    metadata,
  };
  return ajv.compile({ ...schema, properties: { ...checked, ...own }, required: [...required, "metadata"] });
}

/** A JSON schema of types, without bounds. */
interface Shape {
  readonly type?: unknown;
  readonly default?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: Shape;
  readonly items?: Shape;
}

function shapeOf(schema: StructuralSchema): Shape {
  const { type, required, properties, additionalProperties, items } = schema;
  const members = properties && Object.entries(properties).map(([name, member]) => [name, shapeOf(member)] as const);
  return {
    type: type ?? ["integer", "string"], // only x-kubernetes-int-or-string has no type
    ...("default" in schema ? { default: schema.default } : {}),
    ...defined({
      required,
      additionalProperties: additionalProperties && shapeOf(additionalProperties),
      items: items && shapeOf(items),
      properties: members && Object.fromEntries(members),
    }),
  };
}

function toProblem({ instancePath, message = "is not valid" }: ErrorObject): Problem {
  const field = instancePath
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join("")
    .replace(/^\./, "");
  return { field, message };
}
