// SPDX-License-Identifier: Apache-2.0
/**
 * Takes an interface out of its network instance: gives the lease back while the interface can still send, then has
 * zedrouter remove it (eve-and-afxdp.md a4, a9).
 * Usage: `await disconnect(call, record)`.
 */
import { existsSync } from "node:fs";
import type { AttachmentRecord } from "./attachment-record.ts";
import { logged, waitFor, type Call } from "./call.ts";
import { CniError, cniCode, describe } from "./cni-error.ts";
import { deadlineIn, nowMs } from "./deadline.ts";
import { releaseLease } from "./dhcp-lease.ts";
import { lookIntoPod } from "./pod-network.ts";
import { isVirtualMachine } from "./routing-policy.ts";
import { connectZedrouter, podInterfaceOf, type ZedrouterConnection } from "./zedrouter-connection.ts";

const lookMs = 5_000;

/** Succeeds when nothing is left. Throws what zedrouter says, code 11 when it is away or a lease could not be released. */
export async function disconnect(call: Call, record: AttachmentRecord | undefined): Promise<void> {
  const pod = podInterfaceOf(call.request, record?.netns);
  if (pod.podName === "") {
    // zedrouter finds applications by parts of the pod's name: an empty one might be any. And ADD refuses it.
    call.log.info("no pod is named, so nothing was connected");
    return;
  }
  const mayHaveLease = !isVirtualMachine(call.request.args) && (record?.lease ?? true);
  let failure = mayHaveLease ? await tryRelease(call) : undefined;

  const zedrouter = await connectUnlessNothingIsLeft(call, record);
  if (zedrouter === undefined) return;
  let usedDhcp: boolean;
  try {
    ({ usedDhcp } = await logged(call, "RPC DisconnectPod", () =>
      zedrouter.disconnect(pod, waitFor(call, call.timeouts.rpc)),
    ));
  } finally {
    zedrouter.close();
  }
  // A lease that the daemon was still asking for has come by now, or never will: the interface is gone.
  if (record?.step === "leasing") failure = await tryRelease(call);
  // Without a record only zedrouter knows whether there was a lease to give back.
  if (failure === undefined || !(record?.lease ?? usedDhcp)) return;
  throw new CniError(cniCode.tryAgain, "the interface is gone, its DHCP lease could not be released", {
    details: describe(failure),
    cause: failure,
  });
}

/** The failure, to be judged when zedrouter has said whether there was a lease. Takes at most half of the time left. */
async function tryRelease(call: Call): Promise<unknown> {
  const half = (call.deadline.endMs - nowMs()) / 2;
  try {
    await releaseLease({ ...call, deadline: deadlineIn(half) });
    return undefined;
  } catch (error) {
    return error;
  }
}

/** undefined when zedrouter is away and there is nothing that it would have to remove. */
async function connectUnlessNothingIsLeft(
  call: Call,
  record: AttachmentRecord | undefined,
): Promise<ZedrouterConnection | undefined> {
  try {
    return await connectZedrouter(call);
  } catch (error) {
    if (record !== undefined || !(await isInterfaceGone(call))) throw error;
    call.log.info("zedrouter is away, and the pod has no such interface");
    return undefined;
  }
}

/** An interface that we have no record of is gone when its namespace is, or when it is not in it. */
async function isInterfaceGone(call: Call): Promise<boolean> {
  const { netns, ifName } = call.request.env;
  if (netns === "" || !existsSync(netns)) return true;
  const { links } = await lookIntoPod(netns, waitFor(call, lookMs));
  return !links.some(({ name }) => name === ifName);
}
