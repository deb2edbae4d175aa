// SPDX-License-Identifier: Apache-2.0
/**
 * wrapPorts calls one function around each method of each port.
 * Usage: `wrapPorts(host, (call, proceed) => { log(call); return proceed(); })`.
 */
import type { Host } from "../ports/host.ts";
import type { HostOperation } from "./host-error.ts";
import { operations } from "./operations.ts";

/** A call of a method of a port. */
export interface PortCall {
  readonly port: keyof Host;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** Reports whether the call returns a stream of events. */
export function isWatch({ method }: PortCall): boolean {
  return method === "watch";
}

/** Reports whether the call changes the host. */
export function isWrite({ method }: PortCall): boolean {
  return !/^(?:list|read|settle|watch)/.test(method);
}

/**
 * Returns a host that calls `around` in place of each method. `proceed` calls the method. Both return the result of the
 * method.
 */
export function wrapPorts(host: Host, around: (call: PortCall, proceed: () => unknown) => unknown): Host {
  return {
    boot: wrap("boot"),
    bootProgram: wrap("bootProgram"),
    sriov: wrap("sriov"),
    links: wrap("links"),
    routes: wrap("routes"),
    connectivity: wrap("connectivity"),
    linuxBridges: wrap("linuxBridges"),
    devlink: wrap("devlink"),
    subfunctions: wrap("subfunctions"),
    xdp: wrap("xdp"),
    pluginLeftovers: wrap("pluginLeftovers"),
    rdma: wrap("rdma"),
    vdpa: wrap("vdpa"),
    udev: wrap("udev"),
    modules: wrap("modules"),
    firmware: wrap("firmware"),
    configDrive: wrap("configDrive"),
    records: wrap("records"),
    afxdpRecords: wrap("afxdpRecords"),
    files: wrap("files"),
    systemd: wrap("systemd"),
    ovs: wrap("ovs"),
    kernelArguments: wrap("kernelArguments"),
    events: wrap("events"),
    kernelLog: wrap("kernelLog"),
  };

  function wrap<Port extends keyof Host>(port: Port): Host[Port] {
    return new Proxy(host[port], {
      get(target, method) {
        const original: unknown = Reflect.get(target, method);
        if (typeof original !== "function" || typeof method !== "string") return original;
        return (...args: readonly unknown[]) =>
          around({ port, method, args }, () => {
            const result: unknown = Reflect.apply(original, target, args);
            return result;
          });
      },
    });
  }
}

/**
 * operationOf returns the description of a call of any port, for code that handles the calls of all ports.
 * Throws if operations.ts lacks the method, which is a bug.
 */
export function operationOf({ port, method, args }: PortCall): HostOperation {
  const describe: unknown = Reflect.get(operations[port], method);
  const operation: unknown = typeof describe === "function" && Reflect.apply(describe, undefined, args);
  if (!isOperation(operation)) throw new Error(`operations.ts does not describe ${port}.${method}`);
  return operation;
}

function isOperation(value: unknown): value is HostOperation {
  return typeof value === "object" && value !== null && "action" in value && "target" in value;
}

export interface WatchedCalls {
  /** Behaves as the given host. */
  readonly host: Host;
  /** Describes the oldest call that has not ended: "set sriov_numvfs 4 on 0000:3b:00.0"; undefined if all have ended. */
  oldest(): string | undefined;
}

/**
 * watchCalls keeps the calls of a host that have not ended. Some never end, such as a write to sysfs that hangs in a driver.
 * Nothing can end such a call, but the daemon can report it.
 */
export function watchCalls(host: Host): WatchedCalls {
  /** In the order of their start. */
  const running = new Set<PortCall>();
  return {
    host: wrapPorts(host, (call, proceed) => (isWatch(call) ? proceed() : watched(call, proceed))),
    oldest() {
      const [call] = running;
      if (call === undefined) return undefined;
      const { action, target } = operationOf(call);
      return `${action} on ${target}`;
    },
  };

  async function watched(call: PortCall, proceed: () => unknown): Promise<unknown> {
    running.add(call);
    try {
      return await proceed();
    } finally {
      running.delete(call);
    }
  }
}
