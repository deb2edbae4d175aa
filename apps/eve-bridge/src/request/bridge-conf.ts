// SPDX-License-Identifier: Apache-2.0
/**
 * The configuration that the stock `bridge` plugin gets for eth0 (eve-and-afxdp.md a3), the same for ADD, CHECK and DEL:
 * the runtime's, with a default route or with the two routes that a pod needs whose default route goes elsewhere. Nothing
 * is taken away from it.
 * Usage: `runDelegate(env, { plugin: "bridge", command: "ADD", conf: bridgeConf(conf, policy) }, wait)`.
 */
import type { AttachmentRecord } from "../state/attachment-record.ts";
import { CniError, cniCode } from "./cni-error.ts";
import { parseCidr } from "../network/ip-address.ts";
import { isArray, isObject, kindOf, type JsonObject, type JsonValue } from "./json.ts";
import type { RoutingPolicy } from "../network/routing-policy.ts";

/** Where k3s has the services of the cluster. */
export const serviceNetwork = "10.43.0.0/16";

/** Throws code 7 when the policy needs routes that cannot be written. */
export function bridgeConf(conf: JsonObject, policy: RoutingPolicy): JsonObject {
  const own = withoutRoutes(conf, policy);
  if (policy === "default-route") return own;

  const { ipam, nodeIP } = conf;
  if (!isObject(ipam)) throw invalid(`ipam must be an object, not ${kindOf(ipam)}`);
  const routes = ipam["routes"];
  if (!isArray(routes)) throw invalid(`ipam.routes must be an array, not ${kindOf(routes)}`);
  checkNodeIp(nodeIP);
  return { ...own, ipam: { ...ipam, routes: [...routes, { dst: serviceNetwork }, { dst: nodeIP }] } };
}

/** For DEL, which must not fail for want of routes: without them where bridgeConf throws. */
export function bridgeConfIfPossible(conf: JsonObject, policy: RoutingPolicy): JsonObject {
  try {
    return bridgeConf(conf, policy);
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    return withoutRoutes(conf, policy);
  }
}

/**
 * The configuration of the ADD, for a later command: the recorded one, since the runtime's may have changed or be shorter
 * by now. Of the later command's own it has what says in which version to talk, and the result to check.
 */
export function confOfAdd(conf: JsonObject, record: Pick<AttachmentRecord, "conf"> | undefined): JsonObject {
  if (record === undefined) return conf;
  const { cniVersion, prevResult } = conf;
  return {
    ...record.conf,
    ...(cniVersion === undefined ? {} : { cniVersion }),
    ...(prevResult === undefined ? {} : { prevResult }),
  };
}

function withoutRoutes(conf: JsonObject, policy: RoutingPolicy): JsonObject {
  return { ...conf, isDefaultGateway: policy === "default-route", forceAddress: true, hairpinMode: true };
}

function checkNodeIp(nodeIP: JsonValue | undefined): void {
  if (nodeIP === undefined || nodeIP === "") throw invalid("nodeIP was not provided");
  if (typeof nodeIP !== "string") throw invalid(`nodeIP must be a string, not ${kindOf(nodeIP)}`);
  // It becomes the destination of a route as it stands.
  if (parseCidr(nodeIP) === undefined)
    throw invalid(`nodeIP ${JSON.stringify(nodeIP)} has no prefix length or is no address`);
}

function invalid(message: string): CniError {
  return new CniError(cniCode.invalidConfig, message);
}
