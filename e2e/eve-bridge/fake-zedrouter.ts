// SPDX-License-Identifier: Apache-2.0
/**
 * startFakeZedrouter starts a zedrouter for tests: it serves the four methods on a Unix socket, with real bridges and
 * veth pairs in real namespaces (eve-and-afxdp.md a5, a6), and fails as a test requires.
 */
import { createServer, type Socket } from "node:net";
import { ip, run } from "./shell.ts";

/** One request as received. */
export interface ZedrouterRequest {
  readonly method: string;
  readonly pod: string;
  readonly ifName: string;
  /** The MAC address as "02:16:3e:00:00:01"; "" if the request has none. */
  readonly mac: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** How a request fails. */
export type Fault =
  /** Return this error without acting. */
  | { readonly refuse: string }
  /** Send these bytes without acting. */
  | { readonly send: string }
  /** Act, and close the connection in the middle of the answer. */
  | "close-mid-answer"
  /** Act, and send no answer. */
  | "act-silently"
  /** Neither act nor answer. */
  | "ignore"
  /** Act, and answer twice. */
  | "answer-twice";

export interface FakeZedrouter extends AsyncDisposable {
  readonly requests: readonly ZedrouterRequest[];
  /** Whether the next network instance has DHCP. */
  useDhcp: boolean;
  /** Called for each request; undefined lets the request succeed. */
  fault: (request: ZedrouterRequest) => Fault | undefined;
  /** Called before the server acts on a request ("received") and before it answers ("done"). */
  onStep: (step: "received" | "done", request: ZedrouterRequest) => void | Promise<void>;
  /** Returns the number of interfaces that were created and not removed. */
  connected(): number;
}

/** The path of the socket, and the namespace that replaces the host's. */
export interface FakeZedrouterOptions {
  readonly socket: string;
  readonly host: string;
}

/** The bridge of the network instance, its address, and the MTU of its interfaces. */
export const bridge = { name: "bn1", address: "10.11.12.1/16", mac: "02:16:3e:00:00:01", mtu: 1400 } as const;

/** Creates the bridge and starts the server. */
export async function startFakeZedrouter({ socket: path, host }: FakeZedrouterOptions): Promise<FakeZedrouter> {
  await ip(`-n ${host} link add ${bridge.name} address ${bridge.mac} mtu ${bridge.mtu} type bridge`);
  await ip(`-n ${host} address add ${bridge.address} dev ${bridge.name}`);
  await ip(`-n ${host} link set ${bridge.name} up`);
  const requests: ZedrouterRequest[] = [];
  const sockets = new Set<Socket>();
  const pairs = new Map<string, { readonly hostIf: string; readonly netns: string }>();
  let made = 0;
  /** Requests for one interface are handled in order. */
  const turns = new Map<string, Promise<unknown>>();

  const self: FakeZedrouter = {
    requests,
    useDhcp: true,
    fault: () => undefined,
    onStep: () => undefined,
    connected: () => pairs.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await Promise.allSettled(turns.values());
    },
  };

  async function act(request: ZedrouterRequest): Promise<object> {
    switch (request.method) {
      case "ConnectPodAtL2":
        return connectAtL2(request);
      case "ConnectPodAtL3":
        return connectAtL3(request);
      case "DisconnectPod":
        return disconnect(request);
      case "CheckPodConnection":
        return check(request);
      default:
        throw new Error(`rpc: can't find method RPCServer.${request.method}`);
    }
  }

  async function connectAtL2(request: ZedrouterRequest): Promise<object> {
    const key = keyOf(request);
    if (request.mac === "") throw new Error(`failed to find adapter with MAC  for app ${request.pod}`);
    if (!pairs.has(key)) {
      const hostIf = `nbu${++made}x1`;
      const netns = namespaceOf(request);
      pairs.set(key, { hostIf, netns });
      const peer = `peer name ${request.ifName} address ${request.mac} mtu ${bridge.mtu} netns ${netns}`;
      await ip(`-n ${host} link add ${hostIf} mtu ${bridge.mtu} master ${bridge.name} up type veth ${peer}`).catch(
        (error: unknown) => {
          pairs.delete(key);
          throw error;
        },
      );
      await ip(`-n ${netns} link set ${request.ifName} up`);
    }
    return {
      AppUUID: appUuid,
      UseDHCP: self.useDhcp,
      Interfaces: [
        { Name: bridge.name, MAC: base64Of(bridge.mac), NetNsPath: "" },
        { Name: pairs.get(key)?.hostIf, MAC: null, NetNsPath: "" },
        request.params["PodInterface"],
      ],
    };
  }

  async function connectAtL3(request: ZedrouterRequest): Promise<object> {
    const { ifName } = request;
    const netns = namespaceOf(request);
    const { IPs, Routes } = request.params as {
      IPs: { Address: Net; Gateway: string }[];
      Routes: { Dst: Net; GW: string }[];
    };
    for (const { Address } of IPs) await ip(`-n ${netns} address replace ${textOf(Address)} dev ${ifName}`);
    for (const { Dst, GW } of Routes) {
      await ip(`-n ${netns} route replace ${textOf(Dst)} dev ${ifName}${GW === "" ? "" : ` via ${GW} onlink`}`);
    }
    return { AppUUID: appUuid };
  }

  async function disconnect(request: ZedrouterRequest): Promise<object> {
    const pair = pairs.get(keyOf(request));
    if (pair !== undefined) {
      await run("ip", ["-n", host, "link", "del", pair.hostIf]); // fails if the interface is gone with its namespace
      pairs.delete(keyOf(request));
    }
    return { AppUUID: pair === undefined ? noUuid : appUuid, UsedDHCP: pair !== undefined && self.useDhcp };
  }

  function check(request: ZedrouterRequest): object {
    if (!pairs.has(keyOf(request))) throw new Error(`failed to find adapter with pod interface ${request.ifName}`);
    return { AppUUID: appUuid, UsesDHCP: self.useDhcp };
  }

  async function serve(socket: Socket, id: unknown, request: ZedrouterRequest): Promise<void> {
    requests.push(request);
    await self.onStep("received", request);
    const fault = self.fault(request);
    const say = (text: string) => {
      if (!socket.destroyed) socket.write(text);
    };
    if (fault === "ignore") return;
    if (typeof fault === "object" && "send" in fault) {
      say(fault.send);
      return;
    }
    let line: string;
    try {
      if (fault !== undefined && typeof fault === "object") throw new Error(fault.refuse);
      line = `${JSON.stringify({ id, result: await act(request), error: null })}\n`;
    } catch (error) {
      line = `${JSON.stringify({ id, result: null, error: error instanceof Error ? error.message : "?" })}\n`;
    }
    await self.onStep("done", request);
    if (fault === "act-silently") return;
    if (fault === "close-mid-answer") socket.end(line.slice(0, line.length / 2));
    else say(fault === "answer-twice" ? line + line : line);
  }

  const server = createServer((socket) => {
    let text = "";
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined); // the client may have been killed
    socket.setEncoding("utf8").on("data", (more: string) => {
      text += more;
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) {
        const { id, request } = decode(line);
        const before = turns.get(keyOf(request)) ?? Promise.resolve();
        turns.set(
          keyOf(request),
          before.then(() => serve(socket, id, request)),
        );
      }
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  return self;
}

interface Net {
  readonly IP: string;
  readonly Mask: string;
}

const appUuid = "deadbeef-0102-0304-0506-0708090a0b0c";
const noUuid = "00000000-0000-0000-0000-000000000000";

function decode(line: string): { id: unknown; request: ZedrouterRequest } {
  const { method, params, id } = JSON.parse(line) as {
    method: string;
    params: [Readonly<Record<string, unknown>>];
    id: unknown;
  };
  const { Pod, PodInterface } = params[0] as {
    Pod: { Name: string };
    PodInterface: { Name: string; MAC: string | null };
  };
  const mac = [...Buffer.from(PodInterface.MAC ?? "", "base64")]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join(":");
  return {
    id,
    request: {
      method: method.replace("RPCServer.", ""),
      pod: Pod.Name,
      ifName: PodInterface.Name,
      mac,
      params: params[0],
    },
  };
}

function keyOf({ pod, ifName }: ZedrouterRequest): string {
  return `${pod}/${ifName}`;
}

/** Returns the name of the namespace. Zedrouter knows namespaces only by their names below this directory. */
function namespaceOf({ pod, params }: ZedrouterRequest): string {
  const { NetNsPath: path } = params["Pod"] as { NetNsPath: string };
  const name = /^\/var\/run\/netns\/([^/]+)$/.exec(path)?.[1];
  if (name === undefined) throw new Error(`App pod ${pod} with net namespace not from /var/run/netns`);
  return name;
}

function textOf({ IP, Mask }: Net): string {
  const bits = [...Buffer.from(Mask, "base64")].map((byte) => byte.toString(2).replaceAll("0", "").length);
  return `${IP}/${bits.reduce((sum, count) => sum + count, 0)}`;
}

function base64Of(mac: string): string {
  return Buffer.from(mac.replaceAll(":", ""), "hex").toString("base64");
}
