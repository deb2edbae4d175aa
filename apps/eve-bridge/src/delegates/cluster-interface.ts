// SPDX-License-Identifier: Apache-2.0
/**
 * eth0, the pod's interface in the cluster's network: the stock `bridge` plugin's work, with our rules about the default
 * route (eve-and-afxdp.md a3).
 * Usage: `const result = await connectToCluster(call, record)`; `await deleteClusterInterface(call, record)`.
 */
import type { Connect } from "../commands/add.ts";
import type { AttachmentRecord } from "../state/attachment-record.ts";
import { bridgeConf, bridgeConfIfPossible, confOfAdd } from "../request/bridge-conf.ts";
import { logged, waitFor, type Call } from "../commands/call.ts";
import { CniError, cniCode, describe } from "../request/cni-error.ts";
import { parseDelegateOutput, runDelegate } from "./delegate.ts";
import type { JsonObject } from "../request/json.ts";
import { parseResult } from "../request/result.ts";
import { readRoutingPolicy, type RoutingPolicy } from "../network/routing-policy.ts";

/** Makes eth0. Throws code 11 while zedkube has not classified the pod. */
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

/** The stock plugin compares addresses and routes itself. `record` is undefined for an interface that the Go plugin made. */
export async function checkClusterInterface(call: Call, record: AttachmentRecord | undefined): Promise<void> {
  await runBridge(call, "CHECK", bridgeConf(confOfAdd(call.request.conf.raw, record), policyOf(call, record)));
}

/** Removes eth0; succeeds when there is none. */
export async function deleteClusterInterface(call: Call, record: AttachmentRecord | undefined): Promise<void> {
  await runBridge(call, "DEL", bridgeConfIfPossible(confOfAdd(call.request.conf.raw, record), policyOf(call, record)));
}

/** That of the ADD. Without a record zedkube's marker says it, which may be gone before the pod is: then a guess must do. */
function policyOf({ request, settings, log }: Call, record: AttachmentRecord | undefined): RoutingPolicy {
  if (record?.policy !== undefined) return record.policy;
  try {
    return readRoutingPolicy(settings, request.args) ?? "default-route";
  } catch (error) {
    log.info("no routing policy", { error: describe(error) });
    return "default-route";
  }
}

function runBridge(call: Call, command: "ADD" | "CHECK" | "DEL", conf: JsonObject): Promise<string> {
  return logged(call, `bridge ${command}`, () =>
    runDelegate(call.request.env, { plugin: "bridge", command, conf }, waitFor(call, call.timeouts.delegate)),
  );
}
