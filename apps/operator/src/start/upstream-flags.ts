// SPDX-License-Identifier: Apache-2.0
/**
 * fromUpstreamFlags translates the flags of upstream's operator, so that its Deployments can start this operator
 * unchanged (sriov-operator.md H). Flags with the same name need no translation.
 */

/** The flag of this operator, and the meaning of an empty value in upstream. */
interface Counterpart {
  readonly flag: string;
  readonly empty: string;
}

const counterparts: ReadonlyMap<string, Counterpart> = new Map([
  ["metrics-bind-address", { flag: "--metrics-address", empty: ":8080" }],
  ["health-probe-bind-address", { flag: "--health-address", empty: "0" }],
]);

/** Flags of upstream's logger, zap, and whether a value follows. They have no effect. */
const ignoredFlags: ReadonlyMap<string, boolean> = new Map([
  ["zap-devel", false],
  ["zap-encoder", true],
  ["zap-log-level", true],
  ["zap-stacktrace-level", true],
  ["zap-time-encoding", true],
]);

export interface FromUpstream {
  /** The arguments with the names of this operator, without the ignored ones. */
  readonly argv: string[];
  /** The ignored flags: "--zap-log-level". */
  readonly ignored: readonly string[];
}

/** Like Go programs, it accepts one or two dashes, and a value after "=" or as the next argument. */
export function fromUpstreamFlags(given: readonly string[]): FromUpstream {
  const argv: string[] = [];
  const ignored: string[] = [];
  const rest = given.values();
  for (const argument of rest) {
    const [, name = "", value] = /^--?([^=]+)(?:=(.*))?$/s.exec(argument) ?? [];
    const hasValue = ignoredFlags.get(name);
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
