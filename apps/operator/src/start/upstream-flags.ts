// SPDX-License-Identifier: Apache-2.0
/**
 * Flags of upstream's operator by their names there, so that its deployments start ours as they are (sriov-operator.md H).
 * Those that have the same name need nothing.
 * Usage: `const { argv, ignored } = fromUpstreamFlags(process.argv); await runService(service, { argv, env: process.env });`
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

/** Of its logger, zap; whether a value follows. */
const withoutMeaning: ReadonlyMap<string, boolean> = new Map([
  ["zap-devel", false],
  ["zap-encoder", true],
  ["zap-log-level", true],
  ["zap-stacktrace-level", true],
  ["zap-time-encoding", true],
]);

export interface FromUpstream {
  /** The arguments with our names, and without those that mean nothing here. */
  readonly argv: string[];
  /** What was left out: "--zap-log-level". */
  readonly ignored: readonly string[];
}

/** Go's programs take one dash as well as two, and a value behind "=" or as the next argument. */
export function fromUpstreamFlags(given: readonly string[]): FromUpstream {
  const argv: string[] = [];
  const ignored: string[] = [];
  const rest = given.values();
  for (const argument of rest) {
    const [, name = "", value] = /^--?([^=]+)(?:=(.*))?$/s.exec(argument) ?? [];
    const hasValue = withoutMeaning.get(name);
    if (hasValue !== undefined) {
      ignored.push(`--${name}`);
      if (hasValue && value === undefined) rest.next();
      continue;
    }
    const ours = counterparts.get(name);
    if (ours === undefined) argv.push(argument);
    else argv.push(value === undefined ? ours.flag : `${ours.flag}=${value || ours.empty}`);
  }
  return { argv, ignored };
}
