// SPDX-License-Identifier: Apache-2.0
/**
 * Result is the return type of functions that can fail for a reason that the caller must handle. Functions throw only
 * for bugs.
 * Usage: `const result: Result<number, string> = ok(1);`
 */

/** Either a value or the reason why there is no value. */
export type Result<Value, Problem> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: Problem };

/** Returns a successful result. */
export function ok<Value>(value: Value): { readonly ok: true; readonly value: Value } {
  return { ok: true, value };
}

/** Returns a failed result. */
export function err<Problem>(error: Problem): { readonly ok: false; readonly error: Problem } {
  return { ok: false, error };
}

/**
 * defined drops the members of an object literal that are undefined: JSON has no undefined, and server-side apply owns
 * each field that is sent.
 * `Fields` with each member that can be undefined made optional.
 */
export type Defined<Fields extends object> = {
  readonly [Key in keyof Fields as undefined extends Fields[Key] ? never : Key]: Fields[Key];
} & {
  readonly [Key in keyof Fields as undefined extends Fields[Key] ? Key : never]?: Exclude<Fields[Key], undefined>;
};

/** Returns a copy of `fields` without the members that are undefined. Other empty values, such as null, "" and 0, stay. */
export function defined<Fields extends object>(fields: Fields): Defined<Fields>;

export function defined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
