// SPDX-License-Identifier: Apache-2.0
/**
 * CHECK: zedrouter and the delegates say whether all is well, then the pod itself is looked at.
 * Usage: `await check(call)`.
 */
import { existsSync } from "node:fs";
import { waitFor, type Call } from "./call.ts";
import { CniError, cniCode } from "../request/cni-error.ts";
import { compareResult } from "./compare-result.ts";
import { lockOf, readRecord } from "../state/attachment-record.ts";
import { checkClusterInterface } from "../delegates/cluster-interface.ts";
import { checkNetworkInstance } from "../zedrouter/network-instance.ts";
import { acquireLock } from "../state/owner-lock.ts";
import { lookIntoPod } from "../network/pod-network.ts";
import { parseResult } from "../request/result.ts";
import { isVirtualMachine } from "../network/routing-policy.ts";
import { clusterInterface } from "../request/request.ts";

const lookMs = 10_000;

/** Returns when the interface is what ADD made it; throws code 103 with all differences when it is not. */
export async function check(call: Call): Promise<void> {
  const { env, conf, args } = call.request;
  const { prevResult } = conf.raw;
  if (prevResult === undefined) throw new CniError(cniCode.invalidConfig, "required prevResult missing");
  const expected = parseResult(prevResult);
  if (!existsSync(env.netns)) {
    throw new CniError(cniCode.mismatch, "the pod's network namespace is gone", { details: env.netns });
  }
  const lock = await acquireLock(lockOf(call.settings.stateDir, env), waitFor(call, call.timeouts.lock));
  try {
    if (env.ifName === clusterInterface) {
      await checkClusterInterface(call, readRecord(call.settings.stateDir, env));
    } else {
      const mac = expected.interfaces.find(({ name, sandbox }) => name === env.ifName && sandbox !== undefined)?.mac;
      await checkNetworkInstance(call, mac);
    }
    const seen = await lookIntoPod(env.netns, waitFor(call, lookMs));
    const faults = compareResult(expected, seen, {
      ifName: env.ifName,
      netns: env.netns,
      isVirtualMachine: isVirtualMachine(args),
    });
    if (faults.length === 0) return;
    const details = faults.join("; ");
    throw new CniError(cniCode.mismatch, `interface ${env.ifName} is not what ADD made it`, { details });
  } finally {
    lock.release();
  }
}
