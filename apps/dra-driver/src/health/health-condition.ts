// SPDX-License-Identifier: Apache-2.0
/**
 * healthConditions makes the condition VfsUnhealthy of a SriovNetworkNodeState from what is reported about PFs and VFs. There is none while
 * all of them work. It is a pure function.
 */
import { conditionTypes, vfsUnhealthyReasons } from "@switchyard/api";
import type { NewCondition } from "@switchyard/kube";
import type { HealthReason, Problem } from "./damp.ts";

/** The message names at most this number of problems. */
const maxNamed = 5;

/** `problems` are those of the PFs first. The reason is that of the first one. */
export function healthConditions(problems: readonly Problem[]): readonly NewCondition[] {
  const [first] = problems;
  if (first === undefined) return [];
  const named = problems.slice(0, maxNamed).map(({ message }) => message);
  const more = problems.length - named.length;
  const rest = more === 0 ? [] : [more === 1 ? "and 1 other problem" : `and ${more} other problems`];
  const message = `${[...named, ...rest].join("; ")}. Claims cannot have these VFs`;
  return [{ type: conditionTypes.vfsUnhealthy, status: "True", reason: reasonOf[first.reason], message }];
}

const reasonOf: Readonly<Record<HealthReason, string>> = {
  "no-carrier": vfsUnhealthyReasons.noCarrier,
  "driver-lost": vfsUnhealthyReasons.driverLost,
  "device-error": vfsUnhealthyReasons.deviceError,
  "pcie-errors": vfsUnhealthyReasons.pcieErrors,
  "pf-gone": vfsUnhealthyReasons.pfGone,
  "vf-gone": vfsUnhealthyReasons.vfGone,
};
