// SPDX-License-Identifier: Apache-2.0
/**
 * poolsWithOffload returns the pools whose hosts run OVN on their SmartNIC, or are about to run it on the host again. Without
 * the SriovOperatorConfig and ovn-offload, nobody would give them back their Open vSwitch.
 * Usage: `const pools = poolsWithOffload(config); if (pools.length > 0) fail(offloadAdvice(pools));`
 */
import { isRecord, type KubeObject } from "@switchyard/kube";

/** Reads status.ovnHardwareOffload, which has a pool until all its hosts are restored. */
export function poolsWithOffload(config: KubeObject): readonly string[] {
  const status = "status" in config && isRecord(config.status) ? config.status : {};
  const pools: readonly unknown[] = Array.isArray(status["ovnHardwareOffload"]) ? status["ovnHardwareOffload"] : [];
  return pools.filter(isRecord).flatMap(({ pool }) => (typeof pool === "string" ? [pool] : []));
}

/** What an administrator must do first. */
export function offloadAdvice(pools: readonly string[]): string {
  return (
    `nothing is uninstalled, because OVN of these pools runs on SmartNICs: ${pools.join(", ")}; remove ` +
    "spec.ovnHardwareOffload from SriovOperatorConfig default, wait until its status.ovnHardwareOffload is empty, and " +
    "repeat; if ovn-offload cannot run any more, delete SriovOperatorConfig default by hand: the hosts then stay without " +
    "Open vSwitch"
  );
}
