// SPDX-License-Identifier: Apache-2.0
/**
 * CHECK asks zedrouter and the delegated plugins, then compares the pod's network namespace with the result of ADD.
 */
import { existsSync } from "node:fs";
import { waitFor, type Call } from "../state/call.ts";
import { CniError, cniCode, describe, errnoOf } from "../request/cni-error.ts";
import { compareHostSide, compareResult } from "./compare-result.ts";
import { lockOf, readRecord, writeRecord } from "../state/attachment-record.ts";
import { daemonOf } from "../delegates/dhcp-lease.ts";
import { checkClusterInterface } from "../delegates/cluster-interface.ts";
import { checkNetworkInstance } from "../zedrouter/network-instance.ts";
import { acquireLock } from "../state/owner-lock.ts";
import { readLinks, readPodNetwork } from "../network/pod-network.ts";
import { parseResult } from "../request/result.ts";
import { isVirtualMachine } from "../network/routing-policy.ts";
import { clusterInterface } from "../request/request.ts";

const readPodMs = 10_000;

const hostNetns = "/proc/self/ns/net";

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
      if (await checkNetworkInstance(call, mac)) noteDaemon(call);
    }
    const seen = await readPodNetwork(env.netns, waitFor(call, readPodMs));
    const host = await readLinks(hostNetns, waitFor(call, readPodMs));
    const faults = [
      ...compareResult(expected, seen, {
        ifName: env.ifName,
        netns: env.netns,
        isVirtualMachine: isVirtualMachine(args),
      }),
      ...compareHostSide(expected, host),
    ];
    if (faults.length === 0) return;
    const details = faults.join("; ");
    throw new CniError(cniCode.mismatch, `interface ${env.ifName} differs from the result of ADD`, { details });
  } finally {
    lock.release();
  }
}

/** The daemon that runs now has the lease. A state directory that cannot be written does not change what CHECK finds. */
function noteDaemon({ request, settings, log }: Call): void {
  const record = readRecord(settings.stateDir, request.env);
  if (record?.step !== "connected") return;
  try {
    writeRecord(settings.stateDir, { ...record, daemon: daemonOf(settings) });
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    log.error("cannot record that the DHCP daemon has the lease", { error: describe(error) });
  }
}
