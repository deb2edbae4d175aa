// SPDX-License-Identifier: Apache-2.0
/** parseCniArgs parses CNI_ARGS, `K=V;K=V`, with the grammar of the Go library (eve-and-afxdp.md a2). */
import { CniError, cniCode } from "./cni-error.ts";

/** The members of CNI_ARGS that eve-bridge uses. Absent members are "", as in EVE's Go plugin. */
export interface CniArgs {
  readonly mac: string;
  readonly podName: string;
  readonly podNamespace: string;
}

/**
 * Parses CNI_ARGS. Keys are case-sensitive, a later pair overrides an earlier one, and an unknown key is an error unless
 * IgnoreUnknown is true. Throws code 4.
 */
export function parseCniArgs(text: string): CniArgs {
  const args = { mac: "", podName: "", podNamespace: "" };
  if (text === "") return args;

  const unknown: string[] = [];
  let ignoreUnknown = false;
  for (const pair of text.split(";")) {
    const [key, value, ...rest] = pair.split("=");
    if (value === undefined || rest.length > 0) throw invalid(`invalid pair ${JSON.stringify(pair)}`);
    if (key === "MAC") args.mac = value;
    else if (key === "K8S_POD_NAME") args.podName = value;
    else if (key === "K8S_POD_NAMESPACE") args.podNamespace = value;
    else if (key === "IgnoreUnknown") ignoreUnknown = parseBoolean(pair, value);
    else unknown.push(pair);
  }
  if (unknown.length > 0 && !ignoreUnknown) {
    throw invalid(`unknown args [${unknown.map((pair) => JSON.stringify(pair)).join(" ")}]`);
  }
  return args;
}

function parseBoolean(pair: string, value: string): boolean {
  const lower = value.toLowerCase();
  if (lower === "1" || lower === "true") return true;
  if (lower === "0" || lower === "false") return false;
  throw invalid(`${JSON.stringify(pair)} must be true or false`);
}

function invalid(what: string): CniError {
  return new CniError(cniCode.invalidEnvironment, `CNI_ARGS: ${what}`);
}
