// SPDX-License-Identifier: Apache-2.0
/** * Connects a call to zedrouter, and describes the call's interface in the terms of zedrouter's RPC. */
import { waitFor, type Call } from "../state/call.ts";
import { CniError, cniCode } from "../request/cni-error.ts";
import { kindOf } from "../request/json.ts";
import { parseMac, type MacAddress } from "../addresses/mac-address.ts";
import type { CniRequest } from "../request/request.ts";
import { connectRpc } from "./rpc-client.ts";
import { createZedrouter, type PodInterface, type Zedrouter } from "./zedrouter.ts";

/** zedrouter's methods, until the connection is closed. */
export interface ZedrouterConnection extends Zedrouter {
  close(): void;
}

/** Connects; waits up to `timeouts.dial` for a zedrouter that restarts. Throws code 11, or 5. */
export async function connectZedrouter(call: Call): Promise<ZedrouterConnection> {
  const rpc = await connectRpc(call.settings.rpcSocket, waitFor(call, call.timeouts.dial));
  return {
    ...createZedrouter(rpc),
    close: () => {
      rpc.close();
    },
  };
}

/** The interface of a call. `netns` is used if CNI_NETNS is empty, which is valid for DEL. */
export function podInterfaceOf({ env, conf, args }: CniRequest, netns = "", mac?: MacAddress): PodInterface {
  const networkInstance = conf.raw["networkInstance"];
  return {
    podName: args.podName,
    podNamespace: args.podNamespace,
    netns: env.netns === "" ? netns : env.netns,
    ifName: env.ifName,
    ...(mac === undefined ? {} : { mac }),
    ...(typeof networkInstance === "string" ? { networkInstance } : {}),
  };
}

/**
 * The interface of an ADD, which alone has a MAC address. Throws code 4 for invalid CNI_ARGS, 7 for the configuration.
 */
export function wantedInterfaceOf(request: CniRequest): PodInterface {
  if (request.args.podName === "") {
    throw new CniError(cniCode.invalidEnvironment, "CNI_ARGS: K8S_POD_NAME is missing");
  }
  const networkInstance = request.conf.raw["networkInstance"];
  if (networkInstance !== undefined && typeof networkInstance !== "string") {
    throw new CniError(cniCode.invalidConfig, `networkInstance must be a string, not ${kindOf(networkInstance)}`);
  }
  return podInterfaceOf(request, "", wantedMac(request));
}

function wantedMac({ args }: CniRequest): MacAddress | undefined {
  if (args.mac === "") return undefined;
  const mac = parseMac(args.mac);
  if (mac !== undefined) return mac;
  throw new CniError(cniCode.invalidEnvironment, "CNI_ARGS: MAC is not a hardware address", { details: args.mac });
}
