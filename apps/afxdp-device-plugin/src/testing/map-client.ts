// SPDX-License-Identifier: Apache-2.0
/** connectMapClient is a program in a pod: it asks for maps on a socket of the plugin, as DPDK does. */
import { setTimeout as delay } from "node:timers/promises";
import { loadSeqpacketSystem } from "@switchyard/netlink";

export interface MapClient extends Disposable {
  /** Sends a request and returns the answer, "" at the end of the connection. */
  ask(request: string, passed?: number): Promise<string>;
  /** Descriptors that came with answers. They are closed with the client. */
  readonly passed: readonly number[];
}

/** Throws if no server listens. */
export function connectMapClient(path: string): MapClient {
  const system = loadSeqpacketSystem();
  const fd = system.connect(path);
  if (fd < 0) throw new Error(`connect to ${path}: errno ${-fd}`);
  const passed: number[] = [];
  return {
    passed,
    async ask(request, descriptor) {
      system.send(fd, Buffer.from(request), descriptor);
      const buffer = Buffer.alloc(128);
      for (;;) {
        const length = system.receive(fd, buffer, passed);
        if (length >= 0) return buffer.toString("utf8", 0, length);
        await delay(5);
      }
    },
    [Symbol.dispose]() {
      for (const one of passed) system.close(one);
      system.close(fd);
    },
  };
}
