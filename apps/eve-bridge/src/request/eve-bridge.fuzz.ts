// SPDX-License-Identifier: Apache-2.0
/** What container runtimes, delegated plugins and zedrouter send to eve-bridge, and its records. */
import { catchDocumented, FuzzFinding, requireEqual, type FuzzTarget } from "@switchyard/testing/fuzz";
import { isIP } from "node:net";
import { formatCidr, formatIp, networkOf, parseCidr, parseIp } from "../addresses/ip-address.ts";
import { formatMac, parseBase64Mac, parseMac } from "../addresses/mac-address.ts";
import { bridgeConf, bridgeConfIfPossible } from "../delegates/bridge-conf.ts";
import { parseDelegateOutput } from "../delegates/delegate.ts";
import { decodeReply } from "../zedrouter/rpc-client.ts";
import { createFrameReader } from "../zedrouter/rpc-frames.ts";
import { decodeL2Connection, encodeIpam, encodePod } from "../zedrouter/zedrouter.ts";
import { podInterfaceOf, wantedInterfaceOf } from "../zedrouter/zedrouter-connection.ts";
import { CniError, errorObject } from "./cni-error.ts";
import { isObject } from "./json.ts";
import { parseEnvironment, parseRequest, supportedVersions, versionIn, type CniRequest } from "./request.ts";
import { formatResult } from "./result-format.ts";
import { mergeResults, parseResult } from "./result.ts";
import { parseTimeouts, parseTimeoutsIfPossible } from "./settings.ts";

/** Calls a reader, whose only error is CniError. An error is printed as JSON. */
function call<Value>(read: () => Value): Value | undefined {
  const done = catchDocumented(read, (error) => error instanceof CniError);
  if ("value" in done) return done.value;
  JSON.stringify(errorObject(done.error as CniError, "1.0.0"));
  return undefined;
}

/** The lines before an empty one are environment variables, and what follows is stdin. */
function readCall(input: Buffer): void {
  const text = input.toString("utf8");
  const end = text.indexOf("\n\n");
  const [variables, stdin] = end < 0 ? ["", text] : [text.slice(0, end), text.slice(end + 2)];
  const given = Object.fromEntries(
    variables.split("\n").map((line) => [line.split("=", 1)[0] ?? "", line.slice(line.indexOf("=") + 1)]),
  );
  versionIn(stdin);
  for (const command of ["ADD", "DEL", "CHECK", "GC", "STATUS"]) {
    const request = call(() => parseRequest(parseEnvironment({ ...given, CNI_COMMAND: command }), stdin));
    if (request !== undefined) useRequest(request);
  }
}

function useRequest(request: CniRequest): void {
  const { raw } = request.conf;
  call(() => parseTimeouts(raw));
  parseTimeoutsIfPossible(raw);
  JSON.stringify(encodePod(podInterfaceOf(request)));
  call(() => wantedInterfaceOf(request));
  for (const policy of ["default-route", "cluster-only"] as const) {
    call(() => bridgeConf(raw, policy));
    JSON.stringify(bridgeConfIfPossible(raw, policy)); // DEL must not fail
  }
}

function readResult(input: Buffer): void {
  const result = call(() => parseResult(parseDelegateOutput("bridge", input.toString("utf8"))));
  if (result === undefined) return;
  JSON.stringify(encodeIpam(result));
  for (const version of supportedVersions) {
    const written = call(() => formatResult(mergeResults(result, result), version));
    if (written !== undefined) parseResult(JSON.parse(JSON.stringify(written)) as never);
  }
}

function readFrames(input: Buffer): void {
  const read = (chunks: readonly Buffer[]) =>
    call(() => {
      const reader = createFrameReader(64 * 1024);
      return chunks.flatMap((chunk) => reader.push(chunk));
    });
  const whole = read([input]);
  const halves = read([input.subarray(0, input.length / 2), input.subarray(input.length / 2)]);
  if (whole !== undefined && halves !== undefined)
    requireEqual("frames of a whole and of a split stream", whole, halves);
  for (const frame of whole ?? []) {
    const reply = isObject(frame) ? call(() => decodeReply("ConnectPodAtL2", frame)) : undefined;
    if (reply !== undefined) call(() => decodeL2Connection(reply));
  }
}

function readAddress(text: string): void {
  const ip = parseIp(text);
  if ((ip !== undefined) !== isIP(text) > 0 && !text.includes("%"))
    throw new FuzzFinding(`parseIp and net.isIP differ about ${JSON.stringify(text)}`);
  if (ip !== undefined) requireEqual("an address, and the one that is printed", parseIp(formatIp(ip)), ip);
  const cidr = parseCidr(text);
  if (cidr !== undefined)
    requireEqual("a prefix, and the one that is printed", parseCidr(formatCidr(networkOf(cidr))), networkOf(cidr));
  const mac = parseMac(text);
  if (mac !== undefined) requireEqual("a hardware address, and the one that is printed", parseMac(formatMac(mac)), mac);
  parseBase64Mac(text);
}

const variables =
  "CNI_CONTAINERID=c1\nCNI_NETNS=/run/netns/a\nCNI_IFNAME=eth0\nCNI_PATH=/opt/cni/bin\nCNI_ARGS=IgnoreUnknown=1;K8S_POD_NAME=p;MAC=02:00:00:00:00:01\n\n";
const conf = {
  cniVersion: "1.0.0",
  name: "n",
  type: "eve-bridge",
  ipam: { type: "host-local", routes: [] },
  nodeIP: "192.0.2.1/32",
  networkInstance: "i",
  eveBridge: { timeoutMs: { total: 1_000 } },
};
const result = {
  cniVersion: "1.0.0",
  interfaces: [{ name: "eth0", mac: "02:00:00:00:00:01", sandbox: "/n" }],
  ips: [{ address: "10.0.0.2/24", gateway: "10.0.0.1", interface: 0 }],
  routes: [{ dst: "::/0", gw: "fe80::1", mtu: 1500 }],
  dns: { nameservers: ["192.0.2.1"] },
};
const old = {
  cniVersion: "0.2.0",
  ip4: { ip: "10.0.0.2/24", gateway: "10.0.0.1", routes: [{ dst: "0.0.0.0/0" }] },
  ip6: { ip: "fd00::2/64" },
  dns: {},
};
const reply = {
  id: 0,
  result: { UseDHCP: true, Interfaces: [{ Name: "n", MAC: "AgAAAAAB", NetNsPath: "/n" }] },
  error: null,
};

export const targets: readonly FuzzTarget[] = [
  {
    name: "cni-calls",
    seeds: [variables + JSON.stringify(conf), JSON.stringify({ ...conf, prevResult: result })],
    run: readCall,
  },
  { name: "cni-results", seeds: [JSON.stringify(result), JSON.stringify(old)], run: readResult },
  {
    name: "zedrouter-frames",
    seeds: [JSON.stringify(reply), `${JSON.stringify(reply)}\n{"id":1,"error":"no"}`],
    run: readFrames,
  },
  {
    name: "cni-addresses",
    seeds: ["10.0.0.1/24", "::ffff:1.2.3.4", "2001:db8::1/64", "02-00-00-00-00-01", "0200.0000.0001", "AgAAAAAB"],
    run: (input) => {
      readAddress(input.toString("utf8"));
    },
  },
];
