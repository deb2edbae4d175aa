// SPDX-License-Identifier: Apache-2.0
/**
 * JSON from the wire as objects of our kinds. Only their shape is checked, so that rules find the types that they are
 * written for; bounds and enums are the CRD's, which lets an old object keep what a newer CRD would refuse.
 * Usage: `const policy = readShape("SriovNetworkNodePolicy", request.object); if (!policy.ok) …`.
 */
import type { Problem, ReviewedKind, ReviewedKinds } from "@switchyard/admission";
import { apiVersion, err, ok, schemas, type Result, type StructuralSchema } from "@switchyard/api";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";

/** Reads an object of a kind, with the defaults of its CRD. `value` is filled in place. */
export function readShape<Kind extends ReviewedKind>(
  kind: Kind,
  value: unknown,
): Result<ReviewedKinds[Kind], readonly Problem[]> {
  const validate: ValidateFunction<ReviewedKinds[Kind]> = validators[kind];
  return validate(value) ? ok(value) : err((validate.errors ?? []).map(toProblem));
}

/** Whether there are rules for the kind. */
export function isReviewedKind(kind: string): kind is ReviewedKind {
  return Object.hasOwn(validators, kind);
}

/** A new object whose name the API server makes has none yet. */
const metadata: Shape = {
  type: "object",
  properties: { name: { type: "string", default: "" }, namespace: { type: "string" } },
};

// Not all errors: a list of 256 wrong entries would fill the answer.
const ajv = new Ajv({ strict: false, useDefaults: true, ownProperties: true });

const validators: { readonly [Kind in ReviewedKind]: ValidateFunction<ReviewedKinds[Kind]> } = {
  SriovNetworkNodePolicy: compile("SriovNetworkNodePolicy"),
  SriovNetworkPoolConfig: compile("SriovNetworkPoolConfig"),
  SriovOperatorConfig: compile("SriovOperatorConfig"),
  SriovNetwork: compile("SriovNetwork"),
  SriovIBNetwork: compile("SriovIBNetwork"),
  OVSNetwork: compile("OVSNetwork"),
  BridgeNetwork: compile("BridgeNetwork"),
};

function compile<Kind extends ReviewedKind>(kind: Kind): ValidateFunction<ReviewedKinds[Kind]> {
  const { properties, ...schema } = shapeOf(schemas[kind] ?? { type: "object" });
  // The status decides nothing here, and may be large.
  const { status: _status, ...checked } = properties ?? {};
  // Rules tell kinds apart by these, and a review may name the kind beside the object alone.
  const own = {
    apiVersion: { const: apiVersion, default: apiVersion },
    kind: { const: kind, default: kind },
    metadata,
  };
  return ajv.compile<ReviewedKinds[Kind]>({ ...schema, properties: { ...checked, ...own }, required: ["metadata"] });
}

/** A JSON schema that says types and nothing else. */
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
  return {
    type: type ?? ["integer", "string"], // x-kubernetes-int-or-string alone has none
    ...("default" in schema ? { default: schema.default } : {}),
    ...(required === undefined ? {} : { required }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: shapeOf(additionalProperties) }),
    ...(items === undefined ? {} : { items: shapeOf(items) }),
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, shapeOf(one)])) }),
  };
}

function toProblem({ instancePath, message = "is not what it must be" }: ErrorObject): Problem {
  const field = instancePath
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join("")
    .replace(/^\./, "");
  return { field, message };
}
