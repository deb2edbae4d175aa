// SPDX-License-Identifier: Apache-2.0
/**
 * toPage returns the Markdown reference of a kind: an example, and all fields with type, default, description and
 * rules.
 */
import type { CustomResource, StructuralSchema } from "@switchyard/api";

/** What a page is generated from. */
export interface DocumentedKind {
  readonly resource: CustomResource;
  readonly schema: StructuralSchema;
  /** A valid object, as YAML. */
  readonly example: string;
}

/** Returns the page of a kind. */
export function toPage({ resource, schema, example }: DocumentedKind): string {
  const { group, version, kind, plural, columns } = resource;
  const rules = rulesOf({ path: kind, field: schema, required: false });
  const sections = childrenOf({ path: kind, field: schema, required: false }).filter(({ path }) => !isTypeMeta(path));
  return [
    `# ${kind}`,
    schema.description ?? "",
    `\`apiVersion: ${group}/${version}\`, namespaced. \`kubectl get ${plural}\` shows the columns ` +
      `${columns.map(({ name }) => name).join(", ")}.`,
    "## Example",
    `\`\`\`yaml\n${example.trimEnd()}\n\`\`\``,
    ...sections.flatMap((section) => [
      `## ${nameOf(section.path)}`,
      section.field.description ?? "",
      itemsOf(section, rules).slice(1).join("\n\n"),
    ]),
  ]
    .join("\n\n")
    .concat("\n");
}

/** Returns the index of all pages. */
export function toIndex(kinds: readonly Pick<DocumentedKind, "resource" | "schema">[]): string {
  const lines = kinds.map(({ resource, schema }) => {
    return `- [${resource.kind}](${pageName(resource)}): ${schema.description ?? ""}`;
  });
  return `# API reference\n\n${lines.join("\n")}\n`;
}

/** Returns the file name of a kind's page. */
export function pageName({ kind }: CustomResource): string {
  return `${kind.toLowerCase()}.md`;
}

interface Member {
  /** Path that starts with the kind: "OVSNetwork.spec.trunk[].id". */
  readonly path: string;
  readonly field: StructuralSchema;
  readonly required: boolean;
}

/** Messages of rules, by the path of the field that the API server reports. */
type Rules = ReadonlyMap<string, readonly string[]>;

/** Returns the items of a field and of all fields below it. Elements of lists and maps have no item; their fields do. */
function itemsOf(member: Member, rules: Rules): readonly string[] {
  const below = childrenOf(member).flatMap((child) => itemsOf(child, rules));
  return isElement(member.path) ? below : [itemOf(member, rules), ...below];
}

function childrenOf({ path, field }: Member): readonly Member[] {
  const { properties = {}, required = [], items, additionalProperties } = field;
  return [
    ...Object.entries(properties).map(([name, child]) => {
      return { path: `${path}.${name}`, field: child, required: required.includes(name) };
    }),
    ...(items === undefined ? [] : [{ path: `${path}[]`, field: items, required: false }]),
    ...(additionalProperties === undefined
      ? []
      : [{ path: `${path}.*`, field: additionalProperties, required: false }]),
  ];
}

function nameOf(path: string): string {
  return path.slice(path.indexOf(".") + 1);
}

function isTypeMeta(path: string): boolean {
  return ["apiVersion", "kind", "metadata"].includes(nameOf(path));
}

function isElement(path: string): boolean {
  return path.endsWith("[]") || path.endsWith(".*");
}

/** An item of a list, because descriptions are too long for a table. */
function itemOf({ path, field, required }: Member, rules: Rules): string {
  const facts = [
    typeOf(field),
    ...(required ? ["required"] : []),
    ...(field.default === undefined ? [] : [`default \`${JSON.stringify(field.default)}\``]),
  ];
  const messages = ["", "[]", ".*"].flatMap((suffix) => rules.get(path + suffix) ?? []);
  const text = [field.description ?? "", ...boundsOf(field)].filter((part) => part !== "").join(" ");
  return [
    `- \`${nameOf(path)}\` (${facts.join(", ")})`,
    ...(text === "" ? [] : [`  ${text.replaceAll(/\s*\n\s*/g, " ")}`]),
    ...(messages.length === 0 ? [] : [messages.map((message) => `  - ${message}`).join("\n")]),
  ].join("\n\n");
}

function typeOf({ type, items, additionalProperties }: StructuralSchema): string {
  if (items !== undefined) return `list of ${plural(typeOf(items))}`;
  if (additionalProperties !== undefined) return `map of ${plural(typeOf(additionalProperties))}`;
  return type ?? "integer or string";
}

function plural(type: string): string {
  return type.replace(/^(list|map|\w+$)/, "$1s");
}

function boundsOf(field: StructuralSchema): readonly string[] {
  const { minimum, maximum, maxLength, maxItems, maxProperties } = field;
  const values = field.enum?.map((value) => `\`${JSON.stringify(value)}\``).join(", ");
  return [
    values && `One of ${values}.`,
    minimum !== undefined && maximum !== undefined && `From ${minimum} to ${maximum}.`,
    minimum !== undefined && maximum === undefined && `At least ${minimum}.`,
    minimum === undefined && maximum !== undefined && `At most ${maximum}.`,
    maxLength !== undefined && `At most ${maxLength} characters.`,
    maxItems !== undefined && `At most ${maxItems} items.`,
    maxProperties !== undefined && `At most ${maxProperties} entries.`,
  ].filter((text) => typeof text === "string");
}

function rulesOf(member: Member): Rules {
  const own = (member.field["x-kubernetes-validations"] ?? []).map(({ fieldPath = "", message = "" }) => {
    return [member.path + fieldPath, [message]] as const;
  });
  const all = new Map<string, readonly string[]>();
  for (const [at, messages] of [...own, ...childrenOf(member).flatMap((child) => [...rulesOf(child)])]) {
    all.set(at, [...(all.get(at) ?? []), ...messages]);
  }
  return all;
}
