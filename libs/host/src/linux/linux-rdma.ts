// SPDX-License-Identifier: Apache-2.0
/**
 * Rdma over RDMA netlink. A socket of it would load ib_core, and keep it loaded while it is open: there is one only while
 * the mode is read, and only where ib_core is loaded already.
 * Usage: `createLinuxRdma({ root: "/host", openSocket: () => new NetlinkSocket({ protocol: protocols.rdma }) })`.
 */
import { getRdmaMode, type NetlinkSocket } from "@switchyard/netlink";
import { askKernel } from "./ask-kernel.ts";
import { attempts } from "../calls/operations.ts";
import { HostError } from "../calls/host-error.ts";
import { isModuleLoaded } from "./loaded-module.ts";
import type { Rdma } from "../ports/rdma.ts";

export interface LinuxRdmaDeps {
  /** "/" or "/host". */
  readonly root: string;
  /** A socket for protocols.rdma, in the host's network namespace. Disposed of after each read. */
  readonly openSocket: () => NetlinkSocket;
}

// EPROTONOSUPPORT: ib_core was unloaded meanwhile. EINVAL: it is older than the modes.
const withoutMode: ReadonlySet<string> = new Set(["EPROTONOSUPPORT", "EINVAL"]);

export function createLinuxRdma({ root, openSocket }: LinuxRdmaDeps): Rdma {
  return {
    async readMode() {
      if (!(await isModuleLoaded(root, "ib_core"))) return undefined;
      try {
        return await askKernel(attempts.rdma.readMode(), async () => {
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
