// SPDX-License-Identifier: Apache-2.0
/**
 * Connects, checks and deletes eth0, the pod's interface in the cluster network. The stock `bridge` plugin does the work;
 * eve-bridge decides about the default route (eve-and-afxdp.md a3).
 */
import type { AttachmentRecord } from "../state/attachment-record.ts";
import { bridgeConf, bridgeConfIfPossible, confOfAdd } from "./bridge-conf.ts";
import { logged, waitFor, type Call, type Connect } from "../state/call.ts";
import { CniError, cniCode, describe } from "../request/cni-error.ts";
import { parseDelegateOutput, runDelegate } from "./delegate.ts";
import type { JsonObject } from "../request/json.ts";
import { parseResult } from "../request/result.ts";
import { readRoutingPolicy, type RoutingPolicy } from "../network/routing-policy.ts";

/** Connects eth0. Throws code 11 while zedkube has not written the pod's marker. */
export const connectToCluster: Connect = async (call, record) => {
  const { conf, args } = call.request;
  const policy = readRoutingPolicy(call.settings, args);
  if (policy === undefined) {
    const pod = `${args.podNamespace}/${args.podName}`;
    throw new CniError(cniCode.tryAgain, `no routing classification marker yet for pod ${pod}`);
  }
  const own = bridgeConf(conf.raw, policy);
  record({ step: "connecting", lease: false, policy });
  return parseResult(parseDelegateOutput("bridge", await runBridge(call, "ADD", own)));
};

/** Checks eth0 with the `bridge` plugin. `record` is undefined for an interface that EVE's Go plugin made. */
export async function checkClusterInterface(call: Call, record: AttachmentRecord | undefined): Promise<void> {
  await runBridge(call, "CHECK", bridgeConf(confOfAdd(call.request.conf.raw, record), policyOf(call, record)));
}

/** Deletes eth0; succeeds when it does not exist. */
export async function deleteClusterInterface(call: Call, record: AttachmentRecord | undefined): Promise<void> {
  await runBridge(call, "DEL", bridgeConfIfPossible(confOfAdd(call.request.conf.raw, record), policyOf(call, record)));
}

/**
 * The policy of the ADD. Without a record it is zedkube's marker, or "default-route" if that was deleted before the
 * pod.
 */
function policyOf({ request, settings, log }: Call, record: AttachmentRecord | undefined): RoutingPolicy {
  if (record?.policy !== undefined) return record.policy;
  try {
    return readRoutingPolicy(settings, request.args) ?? "default-route";
  } catch (error) {
    log.info("unknown routing policy; using default-route", { error: describe(error) });
    return "default-route";
  }
}

function runBridge(call: Call, command: "ADD" | "CHECK" | "DEL", conf: JsonObject): Promise<string> {
  return logged(call, `bridge ${command}`, () =>
    runDelegate(call.request.env, { plugin: "bridge", command, conf }, waitFor(call, call.timeouts.delegate)),
  );
}
