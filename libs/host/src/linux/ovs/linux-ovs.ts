// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxOvs implements Ovs over the database of Open vSwitch. It loads the OVSDB client and connects at the first call,
 * and not at all without `address`.
 */
import { EventQueue } from "@switchyard/netlink";
import { join } from "node:path";
import { operations } from "../../calls/operations.ts";
import type { Ovs, OvsEvent } from "../../ports/ovs.ts";
import type { OvsSession } from "./ovs-session.ts";

export interface LinuxOvsOptions {
  /** Directory below which Unix sockets are found: "/" or "/host". */
  readonly root: string;
  /** "/PATH", "unix:/PATH", "unix:///PATH" or "tcp:HOST:PORT". If absent, software bridges are not managed. */
  readonly address?: string | undefined;
  /** Limit for each transaction; 10,000 by default. */
  readonly timeoutMs?: number;
  /** Time between two checks whether ovs-vswitchd runs; 60,000 by default. */
  readonly livenessMs?: number;
}

/** Disposing of the result closes the connection. */
export function createLinuxOvs({
  root,
  address,
  timeoutMs = 10_000,
  livenessMs = 60_000,
}: LinuxOvsOptions): Ovs & AsyncDisposable {
  const { ovs: operation } = operations;
  const queues = new Set<EventQueue<OvsEvent>>();
  let session: Promise<OvsSession> | undefined;

  async function open(): Promise<OvsSession> {
    const { OvsSession } = await import("./ovs-session.ts");
    const onChange = (): void => {
      for (const queue of queues) queue.push({ kind: "changed" });
    };
    return new OvsSession({ endpoints: ovsEndpoints(root, address ?? ""), onChange, timeoutMs, livenessMs });
  }

  function openOnce(): Promise<OvsSession> {
    session ??= open();
    return session;
  }

  return {
    async readState() {
      return address === undefined ? undefined : (await openOnce()).read(operation.readState());
    },
    async setBridge(bridge) {
      await (await openOnce()).setBridge(operation.setBridge(bridge), bridge);
    },
    async addPort(bridge, port) {
      await (await openOnce()).addPort(operation.addPort(bridge, port), { bridge, port });
    },
    async removeBridge(name) {
      await (await openOnce()).removeBridge(operation.removeBridge(name), name);
    },
    async removePorts(bridge, ports) {
      await (await openOnce()).removePorts(operation.removePorts(bridge, ports), bridge, ports);
    },
    async adoptBridge(bridge) {
      await (await openOnce()).adoptBridge(operation.adoptBridge(bridge), bridge);
    },
    async setHardwareOffload(mark) {
      await (await openOnce()).setHardwareOffload(operation.setHardwareOffload(mark), mark);
    },
    watch(signal) {
      const queue = new EventQueue<OvsEvent>({ signal, keyOf: ({ kind }) => kind, overrun: { kind: "changed" } });
      queues.add(queue);
      queue.closed.addEventListener("abort", () => queues.delete(queue), { once: true });
      return queue;
    },
    async [Symbol.asyncDispose]() {
      await (await session)?.[Symbol.asyncDispose]();
    },
  };
}

/**
 * Returns the endpoints to try for an address. Sockets are below `root`. On the host /var/run is a link to /run, but the link
 * is absolute, so below another root it would lead out of it: /run is tried first.
 */
export function ovsEndpoints(root: string, address: string): readonly string[] {
  const path = /^(?:unix:(?:\/\/)?)?(\/.*)$/.exec(address)?.[1];
  if (path === undefined) return [address];
  const paths = path.startsWith("/var/run/") ? [path.slice("/var".length), path] : [path];
  return paths.map((each) => `unix:${join(root, each)}`);
}
