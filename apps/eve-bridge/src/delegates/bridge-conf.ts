// SPDX-License-Identifier: Apache-2.0
/**
 * bridgeConf builds the configuration of the stock `bridge` plugin for eth0 (eve-and-afxdp.md a3). It is the runtime's
 * configuration plus either a default route, or the two routes that a pod needs whose default route goes through another
 * interface. ADD, CHECK and DEL use the same configuration.
 */
import type { AttachmentRecord } from "../state/attachment-record.ts";
import { CniError, cniCode } from "../request/cni-error.ts";
import { parseCidr } from "../addresses/ip-address.ts";
import { isArray, isObject, kindOf, type JsonObject, type JsonValue } from "../request/json.ts";
import type { RoutingPolicy } from "../network/routing-policy.ts";

/** The service network of k3s. */
const serviceNetwork = "10.43.0.0/16";

/** Throws code 7 when the policy needs routes and `ipam` or `nodeIP` is invalid. */
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

/** bridgeConf for DEL, which needs no routes: leaves them out where bridgeConf throws. */
export function bridgeConfIfPossible(conf: JsonObject, policy: RoutingPolicy): JsonObject {
  try {
    return bridgeConf(conf, policy);
  } catch (error) {
    if (!(error instanceof CniError)) throw error;
    return withoutRoutes(conf, policy);
  }
}

/**
 * The configuration of the ADD, for a later command. It is the recorded one, because the runtime's may have changed or be
 * shorter by now; `cniVersion` and `prevResult` are those of the later command.
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
  // It becomes the destination of a route.
  if (parseCidr(nodeIP) === undefined) {
    throw invalid(`nodeIP ${JSON.stringify(nodeIP)} must be an IP address with a prefix length`);
  }
}

function invalid(message: string): CniError {
  return new CniError(cniCode.invalidConfig, message);
}
