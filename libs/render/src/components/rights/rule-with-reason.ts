// SPDX-License-Identifier: Apache-2.0
/**
 * RuleWithReason is a rule of a Role or ClusterRole that states why its owner needs it.
 * Usage: `const rules = [{ why: "reads policies", group, resources: ["sriovnetworknodepolicies"], verbs }].map(toRbacRule);`
 */
import { defined } from "@switchyard/api";
import type { RbacRule } from "../objects/kube-objects.ts";

/** A right and the reason for it. */
export interface RuleWithReason {
  readonly why: string;
  /** API group; "" is the core group. */
  readonly group: string;
  readonly resources: readonly string[];
  readonly names?: readonly string[];
  readonly verbs: readonly string[];
}

export function toRbacRule({ group, resources, names, verbs }: RuleWithReason): RbacRule {
  return { apiGroups: [group], resources, ...defined({ resourceNames: names }), verbs };
}
