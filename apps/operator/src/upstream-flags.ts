// SPDX-License-Identifier: Apache-2.0
/**
 * Flags of upstream's operator by their names there, so that its deployments start ours as they are (sriov-operator.md H).
 * Those that have the same name need nothing.
 * Usage: `runService(service, { argv: fromUpstreamFlags(process.argv), env: process.env })`.
 */

/** Ours, and what upstream takes an empty value for. */
interface Counterpart {
  readonly flag: string;
  readonly empty: string;
}

const counterparts: ReadonlyMap<string, Counterpart> = new Map([
  ["metrics-bind-address", { flag: "--metrics-address", empty: ":8080" }],
  ["health-probe-bind-address", { flag: "--health-address", empty: "0" }],
]);

/** The arguments with our names. Go's programs take one dash as well as two. */
export function fromUpstreamFlags(argv: readonly string[]): string[] {
  return argv.map((argument) => {
    const [, name = "", value] = /^--?([^=]+)(?:=(.*))?$/.exec(argument) ?? [];
    const ours = counterparts.get(name);
    if (ours === undefined) return argument;
    return value === undefined ? ours.flag : `${ours.flag}=${value || ours.empty}`;
  });
}
