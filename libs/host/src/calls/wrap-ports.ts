// SPDX-License-Identifier: Apache-2.0
/**
 * One function around every verb of every port, for whatever is the same for all of them.
 * Usage: `wrapPorts(host, (call, proceed) => { log(call); return proceed(); })`.
 */
import type { Host } from "../ports/host.ts";

/** A call of a port's verb. */
export interface PortCall {
  readonly port: keyof Host;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** Whether the call changes the host. */
export function isWrite({ method }: PortCall): boolean {
  return !/^(?:list|read|settle|watch)/.test(method);
}

/** The host with `around` in place of each verb; `proceed` is the verb itself. Both return what the verb returns. */
export function wrapPorts(host: Host, around: (call: PortCall, proceed: () => unknown) => unknown): Host {
  return {
    boot: wrap("boot"),
    sriov: wrap("sriov"),
    links: wrap("links"),
    devlink: wrap("devlink"),
    rdma: wrap("rdma"),
    udev: wrap("udev"),
    modules: wrap("modules"),
    records: wrap("records"),
    files: wrap("files"),
    events: wrap("events"),
  };

  function wrap<Port extends keyof Host>(port: Port): Host[Port] {
    return new Proxy(host[port], {
      get(target, method) {
        const verb: unknown = Reflect.get(target, method);
        if (typeof verb !== "function" || typeof method !== "string") return verb;
        return (...args: readonly unknown[]) =>
          around({ port, method, args }, () => {
            const result: unknown = Reflect.apply(verb, target, args);
            return result;
          });
      },
    });
  }
}
