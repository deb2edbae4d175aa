// SPDX-License-Identifier: Apache-2.0
/**
 * formatResult writes a result in the CNI version of the configuration, which may differ from the version of a delegated
 * plugin's result. EVE uses 0.3.1, where each address has a `version` member.
 */
import { CniError, cniCode } from "./cni-error.ts";
import { atLeast, type CniVersion } from "./request.ts";
import { formatCidr, formatIp, isIpv4, type IpAddress } from "../addresses/ip-address.ts";
import type { JsonObject } from "./json.ts";
import type { CniResult, CniRoute } from "./result.ts";

/** Writes a result in `version`. Throws code 1 for a result without address in 0.2.0 or older. */
export function formatResult(result: CniResult, version: CniVersion): JsonObject {
  if (!atLeast(version, "0.3.0")) return formatFamilies(result, version);
  const full = atLeast(version, "1.1.0");
  const interfaces = result.interfaces.map(({ name, mac, sandbox, ...rest }) => ({
    name,
    ...(mac === undefined ? {} : { mac }),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(full ? rest : {}),
  }));
  const ips = result.ips.map((ip) => ({
    ...(atLeast(version, "1.0.0") ? {} : { version: isIpv4(ip.address.address) ? "4" : "6" }),
    ...(ip.interface === undefined ? {} : { interface: ip.interface }),
    address: formatCidr(ip.address),
    ...formatGateway("gateway", ip.gateway),
  }));
  const routes = result.routes.map((route) => formatRoute(route, full));
  return {
    cniVersion: version,
    ...(interfaces.length > 0 ? { interfaces } : {}),
    ...(ips.length > 0 ? { ips } : {}),
    ...(routes.length > 0 ? { routes } : {}),
    dns: result.dns,
  };
}

function formatFamilies(result: CniResult, cniVersion: CniVersion): JsonObject {
  const family = (wantIpv4: boolean) => {
    const ip = result.ips.find(({ address }) => isIpv4(address.address) === wantIpv4);
    if (ip === undefined) return undefined;
    const routes = result.routes.filter(({ dst }) => isIpv4(dst.address) === wantIpv4);
    return {
      ip: formatCidr(ip.address),
      ...formatGateway("gateway", ip.gateway),
      ...(routes.length > 0 ? { routes: routes.map((route) => formatRoute(route, false)) } : {}),
    };
  };
  const [ip4, ip6] = [family(true), family(false)];
  if (ip4 === undefined && ip6 === undefined) {
    const details = `a result of CNI version ${cniVersion} must contain an IP address`;
    throw new CniError(cniCode.incompatibleVersion, "cannot convert: no valid IP addresses", { details });
  }
  return { cniVersion, ...(ip4 ? { ip4 } : {}), ...(ip6 ? { ip6 } : {}), dns: result.dns };
}

function formatRoute({ dst, gw, ...rest }: CniRoute, full: boolean): JsonObject {
  return { dst: formatCidr(dst), ...formatGateway("gw", gw), ...(full ? rest : {}) };
}

function formatGateway(member: "gateway" | "gw", address: IpAddress | undefined): JsonObject {
  return address === undefined ? {} : { [member]: formatIp(address) };
}
