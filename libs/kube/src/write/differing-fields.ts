// SPDX-License-Identifier: Apache-2.0
/**
 * differingField and replacedFields compare an intent with an object that the server has, along the fields of managedFields. These
 * trees show which entries of a list belong together, so no schema is needed (owned-fields.ts).
 */
import { equalJson } from "../json/equal-json.ts";
import { cutText } from "../json/texts.ts";
import { isRecord, type KubeObject, type ManagedFieldsEntry } from "../kube-object.ts";

export type Tree = Readonly<Record<string, unknown>>;

/** Returns a field of the intent that another manager has set to another value, and the manager; undefined if there is none. */
export function differingField(
  object: KubeObject,
  intent: Tree,
  manager: string,
): { readonly manager: string; readonly field: string } | undefined {
  const others = (object.metadata.managedFields ?? []).filter((entry) => entry.manager !== manager);
  for (const entry of others.toSorted((a, b) => ((a.time ?? "") < (b.time ?? "") ? 1 : -1))) {
    const [first] = isRecord(entry.fieldsV1) ? differences(intent, object, entry.fieldsV1) : [];
    if (first !== undefined) return { manager: nameOf(entry), field: first.field };
  }
  return undefined;
}

/** Returns the fields of the intent that the server has stored with another value: `spec.mode from "a" to "b"`. */
export function replacedFields(stored: KubeObject, intent: Tree, manager: string): readonly string[] {
  const own = stored.metadata.managedFields?.find(
    (entry) => entry.manager === manager && entry.operation === "Apply" && (entry.subresource ?? "") === "",
  );
  if (!isRecord(own?.fieldsV1)) return [];
  const found = differences(intent, stored, own.fieldsV1).filter(({ wanted, present }) => !isForm(wanted, present));
  return found.map(({ field, wanted, present }) => `${field} from ${shown(wanted)} to ${shown(present)}`);
}

interface Difference {
  readonly field: string;
  readonly wanted: unknown;
  readonly present: unknown;
}

/** The differing leaves of `owned`, as far as the intent has them. */
function differences(wanted: unknown, present: unknown, owned: Tree, field = ""): readonly Difference[] {
  const children = Object.entries(owned).filter(([child]) => child !== ".");
  if (children.length === 0) return equalJson(wanted, present) ? [] : [{ field, wanted, present }];
  return children.flatMap(([child, tree]) => {
    const below = isRecord(tree) ? tree : {};
    if (child.startsWith("f:")) {
      const name = child.slice("f:".length);
      if (!isRecord(wanted) || !Object.hasOwn(wanted, name) || wanted[name] === undefined) return [];
      const next = isRecord(present) ? present[name] : undefined;
      return differences(wanted[name], next, below, field === "" ? name : `${field}${memberOf(name)}`);
    }
    if (!child.startsWith("k:")) return [];
    const key: unknown = JSON.parse(child.slice("k:".length));
    const item = isRecord(key) ? itemWith(wanted, key) : undefined;
    if (!isRecord(key) || item === undefined) return [];
    const name = Object.entries(key).map(([part, value]) => `${part}=${String(value)}`);
    return differences(item, itemWith(present, key), below, `${field}[${name.join(",")}]`);
  });
}

function memberOf(name: string): string {
  return /^[\w-]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

/** The intent may lack a part of the key that the server has set by default, such as the protocol of a port. */
function itemWith(list: unknown, key: Tree): unknown {
  if (!Array.isArray(list)) return undefined;
  return list.find(
    (item) => isRecord(item) && Object.entries(key).every(([name, value]) => [value, undefined].includes(item[name])),
  );
}

/** Reports whether the server can have stored `wanted` as `present` without any admission: another form of a number, or defaults. */
function isForm(wanted: unknown, present: unknown): boolean {
  if (isNothing(wanted) && isNothing(present)) return true;
  if (Array.isArray(wanted) && Array.isArray(present)) {
    return wanted.length === present.length && wanted.every((item, index) => isForm(item, present[index]));
  }
  if (isRecord(wanted) && isRecord(present)) {
    return Object.entries(wanted).every(([name, value]) => isForm(value, present[name]));
  }
  if (equalJson(wanted, present)) return true;
  const [a, b] = [quantityOf(wanted), quantityOf(present)];
  return a !== undefined && b !== undefined && Math.abs(a - b) <= Math.abs(a) * 1e-9;
}

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === false || value === 0) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

const suffixes: ReadonlyMap<string, number> = new Map([
  ["", 1],
  ...["n", "u", "m"].map((suffix, index) => [suffix, 1000 ** (index - 3)] as const),
  ...["k", "M", "G", "T", "P", "E"].map((suffix, index) => [suffix, 1000 ** (index + 1)] as const),
  ...["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].map((suffix, index) => [suffix, 1024 ** (index + 1)] as const),
]);

/** Returns the number of a quantity such as "100m", 0.1 or "1Gi". */
function quantityOf(value: unknown): number | undefined {
  const [, digits, suffix = ""] = /^([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)([a-zA-Z]{0,2})$/.exec(String(value)) ?? [];
  const factor = suffixes.get(suffix);
  return digits === undefined || factor === undefined ? undefined : Number(digits) * factor;
}

function shown(value: unknown): string {
  return value === undefined ? "nothing" : cutText(JSON.stringify(value), 100);
}

function nameOf({ manager }: ManagedFieldsEntry): string {
  return manager ?? "";
}
