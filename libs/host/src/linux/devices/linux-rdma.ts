// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxRdma implements Rdma over RDMA netlink, over rtnetlink for GUIDs of VFs, and over sysfs for devices, because
 * netlink does not report their PCI functions. Opening an RDMA socket loads ib_core, and keeps it loaded while the socket is open. Therefore a socket is opened
 * only for one request, and only if ib_core is loaded already.
 */
import { defined, parsePciAddress } from "@switchyard/api";
import { getRdmaMode, setRdmaMode, setVfGuids, type NetlinkSocket } from "@switchyard/netlink";
import { join } from "node:path";
import { askKernel } from "../system/ask-kernel.ts";
import { operations } from "../../calls/operations.ts";
import { HostError, withHostError } from "../../calls/host-error.ts";
import { isModuleLoaded, readAttribute, readLinkName, readNames } from "../system/read-sysfs.ts";
import type { Rdma, RdmaDevice } from "../../ports/devices.ts";

export interface LinuxRdmaDeps {
  /** "/" or "/host". */
  readonly root: string;
  /** Opens a socket of protocols.rdma in the network namespace of the host. It is disposed of after each request. */
  readonly openSocket: () => NetlinkSocket;
  /** A socket of protocols.route. The caller disposes of it. */
  readonly route: NetlinkSocket;
}

// EPROTONOSUPPORT: ib_core was unloaded meanwhile. EINVAL: ib_core is too old to have modes.
const withoutMode: ReadonlySet<string> = new Set(["EPROTONOSUPPORT", "EINVAL"]);

export function createLinuxRdma({ root, openSocket, route }: LinuxRdmaDeps): Rdma {
  const { rdma: operation } = operations;
  const devices = join(root, "sys/class/infiniband");
  const isLoaded = () => isModuleLoaded(root, "ib_core");
  return {
    async readMode() {
      if (!isLoaded()) return undefined;
      try {
        return await askKernel(operation.readMode(), async () => {
          await using socket = openSocket();
          return await getRdmaMode(socket);
        });
      } catch (error) {
        if (error instanceof HostError && withoutMode.has(error.code)) return undefined;
        throw error;
      }
    },
    async setMode(mode) {
      if (!isLoaded()) throw new HostError(operation.setMode(mode), "EPROTONOSUPPORT", {});
      await askKernel(operation.setMode(mode), async () => {
        await using socket = openSocket();
        await setRdmaMode(socket, mode);
      });
    },
    listDevices: () =>
      withHostError(operation.listDevices(), () => {
        const names = (readNames(devices) ?? []).toSorted();
        return names.map((name) => readDevice(join(devices, name), name)).filter((device) => device !== undefined);
      }),
    setVfGuid: (pfName, vfId, guid) =>
      askKernel(operation.setVfGuid(pfName, vfId, guid), () => setVfGuids(route, pfName, { vfId, guid })),
  };
}

/** Returns undefined if the device was removed meanwhile. */
function readDevice(directory: string, name: string): RdmaDevice | undefined {
  const nodeGuid = readAttribute(join(directory, "node_guid"));
  if (nodeGuid === undefined) return undefined;
  const pciAddress = parsePciAddress(readLinkName(join(directory, "device")) ?? "");
  // "4: ACTIVE"
  const [, portState] = /^\d+: ([A-Z]+)/.exec(readAttribute(join(directory, "ports/1/state")) ?? "") ?? [];
  return { name, nodeGuid, ...defined({ portState, pciAddress: pciAddress.ok ? pciAddress.value : undefined }) };
}
