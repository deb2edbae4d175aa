// SPDX-License-Identifier: Apache-2.0
/**
 * tolerateOldValues makes all rules of a kind accept a value that the stored object already has, at every depth. The
 * API server itself ignores violations of unchanged values (ratcheting), but before Kubernetes 1.33 not in updates of
 * the status. Without these rules, no condition could be written to an object that the Go operator's CRDs accepted.
 *
 * A rule can compare with the old value (`oldSelf`) only where the API server knows which old value belongs to the new
 * one. This is not the case in a list or below an atomic map. The rules there move up to the list or the map.
 */
import { defined, type StructuralSchema, type ValidationRule } from "@switchyard/api";

/** Returns the schema of a field whose value is compared with the old one, such as `spec`. */
export function tolerateOldValues(schema: StructuralSchema): StructuralSchema {
  return convert(schema, true).schema;
}

/** One step from a value to a value in it: a field's name, all items of a list, or all values of a map. */
type Step = { readonly field: string } | "items" | "values";

/** A rule about a value that is found by these steps. */
interface MovedRule {
  readonly steps: readonly Step[];
  readonly rule: ValidationRule;
}

interface Converted {
  readonly schema: StructuralSchema;
  /** Rules of this schema and of those within, which must be on a schema further up. */
  readonly moved: readonly MovedRule[];
}

/** `isComparable` says whether rules on this schema may use oldSelf. */
function convert(schema: StructuralSchema, isComparable: boolean): Converted {
  const { properties, items, additionalProperties, "x-kubernetes-validations": own = [], ...rest } = schema;
  const areMembers = isComparable && rest["x-kubernetes-map-type"] !== "atomic";
  const areItems = isComparable && rest["x-kubernetes-list-type"] === "map";
  const moved: MovedRule[] = own.map((rule) => ({ steps: [], rule }));
  const within = (inner: StructuralSchema, step: Step): StructuralSchema => {
    const converted = convert(inner, step === "items" ? areItems : areMembers);
    moved.push(...converted.moved.map(({ steps, rule }) => ({ steps: [step, ...steps], rule })));
    return converted.schema;
  };
  const inner = defined({
    properties:
      properties &&
      Object.fromEntries(Object.entries(properties).map(([field, member]) => [field, within(member, { field })])),
    items: items && within(items, "items"),
    additionalProperties: additionalProperties && within(additionalProperties, "values"),
  });
  const converted = { ...rest, ...inner };
  if (!isComparable || moved.length === 0) return { schema: converted, moved };
  return { schema: { ...converted, "x-kubernetes-validations": moved.map(tolerant) }, moved: [] };
}

function tolerant({ steps, rule }: MovedRule): ValidationRule {
  if (rule.optionalOldSelf === true) return rule; // it compares the fields that it is about
  return {
    ...(steps.length === 0 ? rule : movedUp(steps, rule)),
    rule: `(${lifted(steps, rule.rule, "self", 0)}) || (oldSelf.hasValue() && oldSelf.value() == self)`,
    optionalOldSelf: true,
  };
}

/** A path cannot name the items of a list, so the message says which part of each item is meant. */
function movedUp(steps: readonly Step[], { message = "", fieldPath = "", ...rest }: ValidationRule): ValidationRule {
  const path = steps.flatMap((step) => (typeof step === "string" ? [step] : [step.field]));
  const list = path.findIndex((part) => part === "items" || part === "values");
  const [outer, part] = list === -1 ? [path, []] : [path.slice(0, list), path.slice(list + 1)];
  const named = [...part.filter((name) => name !== "items" && name !== "values"), fieldPath.slice(1)].filter(Boolean);
  const subject = named.length === 0 ? "each entry" : `${named.join(".")} of each entry`;
  return {
    ...rest,
    message: list === -1 ? message : `${subject} ${message}`,
    ...defined({ fieldPath: outer.length === 0 ? undefined : outer.map((name) => `.${name}`).join("") }),
  };
}

/** The rule about a value in `self`, as a rule about `self`. */
function lifted([step, ...more]: readonly Step[], rule: string, self: string, depth: number): string {
  if (step === undefined) return rule.replaceAll(/\bself\b/g, self);
  const name = `item${depth === 0 ? "" : depth}`;
  if (step === "items") return `${self}.all(${name}, ${lifted(more, rule, name, depth + 1)})`;
  if (step === "values") return `${self}.all(${name}, ${lifted(more, rule, `${self}[${name}]`, depth + 1)})`;
  const member = `${self}.${step.field}`;
  return `!has(${member}) || (${lifted(more, rule, member, depth)})`;
}
