// SPDX-License-Identifier: Apache-2.0
/**
 * startDhcp provides DHCP on the network instance: dnsmasq with option 121 as EVE configures it, the daemon of the
 * stock plugin, and a program that records the DHCP messages on the wire.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startBackground, type Background } from "./background.ts";
import { bridge, startFakeZedrouter, type FakeZedrouter } from "./fake-zedrouter.ts";
import { createNodeLab, type NodeLab } from "./node-lab.ts";

/** One DHCP message. */
export interface DhcpMessage {
  readonly type: string;
  readonly mac: string;
  readonly clientId: string;
  readonly ciaddr: string;
  readonly yiaddr: string;
}

/** The server, the daemon and the recorder. */
export interface Dhcp extends AsyncDisposable {
  readonly daemon: Background;
  readonly wire: Background;
  /** Returns the DHCP messages so far. */
  messages(): DhcpMessage[];
  /** Returns the lines of dnsmasq's lease file. */
  leases(): string[];
}

/** Disposing it ends all processes and removes the lab. */
export interface NetworkLab extends AsyncDisposable {
  readonly lab: NodeLab;
  readonly zedrouter: FakeZedrouter;
  readonly dhcp: Dhcp;
}

/** Starts all three programs. The bridge must exist. */
async function startDhcp(lab: NodeLab): Promise<Dhcp> {
  const resources = new AsyncDisposableStack();
  const leaseFile = lab.path("dnsmasq.leases");
  const gateway = bridge.address.split("/")[0] ?? "";
  const routes = `10.11.0.0/16,0.0.0.0,10.99.0.0/16,${gateway},0.0.0.0/0,${gateway}`;
  const [dnsmasq, ...words] = lab.inHost("dnsmasq", "--no-daemon", "--conf-file=/dev/null", "--port=0", "--no-ping");
  resources.use(
    await startBackground(
      dnsmasq,
      [
        ...words,
        `--interface=${bridge.name}`,
        "--bind-interfaces",
        "--dhcp-authoritative",
        // A large range, because dnsmasq keeps a lease until it expires: the kernel drops the DHCPRELEASE of the plugin
        // (eve-and-afxdp.md a9).
        "--dhcp-range=10.11.16.1,10.11.200.254,255.255.0.0,60m",
        // The plugin does not request option 121 but uses it.
        `--dhcp-option-force=option:classless-static-route,${routes}`,
        `--dhcp-leasefile=${leaseFile}`,
        `--pid-file=${lab.path("dnsmasq.pid")}`,
      ],
      { until: "DHCP, IP range" },
    ),
  );
  const wire = resources.use(await tap(lab));
  const daemon = resources.use(await startDhcpDaemon(lab));
  return {
    daemon,
    wire,
    messages: () =>
      wire
        .printed()
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as DhcpMessage)
        .filter(({ type }) => type !== "TAPPING"),
    leases: () => (existsSync(leaseFile) ? readFileSync(leaseFile, "utf8").trim().split("\n").filter(Boolean) : []),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/**
 * Starts the daemon of the stock plugin on the lab's socket. Removes the socket of a killed daemon first, as EVE does.
 */
export async function startDhcpDaemon(lab: NodeLab): Promise<Background> {
  const { dhcpSocket } = lab.settings;
  rmSync(dhcpSocket, { force: true });
  return startBackground(join(lab.tools, "dhcp"), ["daemon", "-socketpath", dhcpSocket], {
    until: () => existsSync(dhcpSocket),
  });
}

function tap(lab: NodeLab): Promise<Background> {
  const [file, ...args] = lab.inHost(join(lab.tools, "wiretap"), bridge.name);
  return startBackground(file, args, { until: "TAPPING" });
}

/**
 * createNetworkLab creates a node lab with a fake zedrouter and a DHCP server and daemon, which network instances need. Rejects
 * if a part cannot be started.
 */
export async function createNetworkLab(): Promise<NetworkLab> {
  await using stack = new AsyncDisposableStack();
  const lab = stack.use(await createNodeLab());
  const zedrouter = stack.use(await startFakeZedrouter({ socket: lab.settings.rpcSocket, host: lab.host }));
  const dhcp = stack.use(await startDhcp(lab));
  const parts = stack.move();
  return { lab, zedrouter, dhcp, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}
