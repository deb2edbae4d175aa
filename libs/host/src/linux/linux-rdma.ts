// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxRdma implements Rdma over RDMA netlink. Opening such a socket loads ib_core, and keeps it loaded while the socket
 * is open. Therefore a socket is opened only while the mode is read, and only if ib_core is loaded already.
 * Usage: `createLinuxRdma({ root: "/host", openSocket: () => new NetlinkSocket({ protocol: protocols.rdma }) })`.
 */
import { getRdmaMode, type NetlinkSocket } from "@switchyard/netlink";
import { askKernel } from "./ask-kernel.ts";
import { operations } from "../calls/operations.ts";
import { HostError } from "../calls/host-error.ts";
import { isModuleLoaded } from "./loaded-module.ts";
import type { Rdma } from "../ports/rdma.ts";

export interface LinuxRdmaDeps {
  /** "/" or "/host". */
  readonly root: string;
  /** Opens a socket of protocols.rdma in the network namespace of the host. It is disposed of after each read. */
  readonly openSocket: () => NetlinkSocket;
}

// EPROTONOSUPPORT: ib_core was unloaded meanwhile. EINVAL: ib_core is too old to have modes.
const withoutMode: ReadonlySet<string> = new Set(["EPROTONOSUPPORT", "EINVAL"]);

export function createLinuxRdma({ root, openSocket }: LinuxRdmaDeps): Rdma {
  return {
    async readMode() {
      if (!(await isModuleLoaded(root, "ib_core"))) return undefined;
      try {
        return await askKernel(operations.rdma.readMode(), async () => {
          await using socket = openSocket();
          return await getRdmaMode(socket);
        });
      } catch (error) {
        if (error instanceof HostError && withoutMode.has(error.code)) return undefined;
        throw error;
      }
    },
  };
}
