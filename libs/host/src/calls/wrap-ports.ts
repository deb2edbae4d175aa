// SPDX-License-Identifier: Apache-2.0
/**
 * wrapPorts calls one function around each method of each port.
 * Usage: `wrapPorts(host, (call, proceed) => { log(call); return proceed(); })`.
 */
import type { Host } from "../ports/host.ts";

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
