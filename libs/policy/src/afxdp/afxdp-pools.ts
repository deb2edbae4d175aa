// SPDX-License-Identifier: Apache-2.0
/**
 * poolProblems compares the pool of a policy with the pools that policies of higher priority have on the same node. Policies
 * may share a pool only with the same mode and settings, because the pool has one resource and one way to pods.
 */
import type { AfxdpNetworkNodePolicy, AfxdpPoolSpec } from "@switchyard/api";
import { afxdpProblem, type AfxdpProblem } from "./afxdp-problem.ts";
import { poolSettingsOf } from "./afxdp-rules.ts";

/** Returns why the policy cannot have the pool; empty if it can. */
export function poolProblems(
  policy: AfxdpNetworkNodePolicy,
  pool: AfxdpPoolSpec,
  others: readonly AfxdpPoolSpec[],
): readonly AfxdpProblem[] {
  return others.flatMap((other) => {
    if (other.name.toLowerCase() !== pool.name.toLowerCase()) return [];
    if (other.name !== pool.name) {
      const message =
        `differs only in case from pool ${other.name} of the same node: ` +
        `both would have the environment variable ${poolVariable(pool.name)}, so choose another name`;
      return [afxdpProblem(policy, { code: "pool-name-collides", field: "spec.poolName", value: pool.name, message })];
    }
    if (other.mode !== pool.mode) {
      const message =
        `must be ${other.mode}, as in a policy of higher priority with the same poolName: ` +
        "a pool has one mode, so choose another poolName";
      return [afxdpProblem(policy, { code: "pool-mode-differs", field: "spec.mode", value: pool.mode, message })];
    }
    return settingNames.flatMap((name) => {
      if (other[name] === pool[name]) return [];
      const message =
        `must be ${other[name]}, as in a policy of higher priority with the same poolName: ` +
        "a pool has one setting, so choose another poolName";
      return [
        afxdpProblem(policy, { code: "pool-setting-differs", field: `spec.${name}`, value: pool[name], message }),
      ];
    });
  });
}

/** The environment variable in pods with the names of the pool's devices. The plugins' contract (eve-and-afxdp.md b1). */
function poolVariable(poolName: string): string {
  return `AFXDP_DEVICES_${poolName.toUpperCase()}`;
}

const settingNames = Object.keys(poolSettingsOf({ spec: {} })) as readonly (keyof ReturnType<typeof poolSettingsOf>)[];
