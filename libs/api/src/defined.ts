// SPDX-License-Identifier: Apache-2.0
/**
 * defined drops the members of an object literal that are undefined: JSON has no undefined, and server-side apply owns
 * each field that is sent.
 * Usage: `const metadata = { name, ...defined({ namespace, uid }) }`.
 */

/** `Fields` with each member that can be undefined made optional. */
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
