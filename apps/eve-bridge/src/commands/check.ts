// SPDX-License-Identifier: Apache-2.0
/**
 * CHECK asks zedrouter and the delegated plugins, then compares the pod's network namespace with the result of ADD.
 */
import { existsSync } from "node:fs";
import { waitFor, type Call } from "../state/call.ts";
import { CniError, cniCode } from "../request/cni-error.ts";
import { compareResult } from "./compare-result.ts";
import { lockOf, readRecord } from "../state/attachment-record.ts";
import { checkClusterInterface } from "../delegates/cluster-interface.ts";
import { checkNetworkInstance } from "../zedrouter/network-instance.ts";
import { acquireLock } from "../state/owner-lock.ts";
import { readPodNetwork } from "../network/pod-network.ts";
import { parseResult } from "../request/result.ts";
import { isVirtualMachine } from "../network/routing-policy.ts";
import { clusterInterface } from "../request/request.ts";

const readPodMs = 10_000;

/** Throws code 103 with all differences when the interface is not as the result of ADD describes it. */
export async function check(call: Call): Promise<void> {
  const { env, conf, args } = call.request;
  const { prevResult } = conf.raw;
  if (prevResult === undefined) throw new CniError(cniCode.invalidConfig, "required prevResult missing");
  const expected = parseResult(prevResult);
  if (!existsSync(env.netns)) {
    throw new CniError(cniCode.mismatch, "the pod's network namespace does not exist", { details: env.netns });
  }
  const lock = await acquireLock(lockOf(call.settings.stateDir, env), waitFor(call, call.timeouts.lock));
  try {
    if (env.ifName === clusterInterface) {
      await checkClusterInterface(call, readRecord(call.settings.stateDir, env));
    } else {
      const mac = expected.interfaces.find(({ name, sandbox }) => name === env.ifName && sandbox !== undefined)?.mac;
      await checkNetworkInstance(call, mac);
    }
    const seen = await readPodNetwork(env.netns, waitFor(call, readPodMs));
    const faults = compareResult(expected, seen, {
      ifName: env.ifName,
      netns: env.netns,
      isVirtualMachine: isVirtualMachine(args),
    });
    if (faults.length === 0) return;
    const details = faults.join("; ");
    throw new CniError(cniCode.mismatch, `interface ${env.ifName} differs from the result of ADD`, { details });
  } finally {
    lock.release();
  }
}
