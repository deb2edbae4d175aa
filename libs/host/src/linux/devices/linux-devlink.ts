// SPDX-License-Identifier: Apache-2.0
/** createLinuxDevlink implements Devlink over generic netlink. */
import type { PciAddress } from "@switchyard/api";
import {
  devlinkFamily,
  getEswitchMode,
  getTextParameter,
  listHealthReporters,
  setEswitchMode,
  setTextParameter,
  type GenericFamily,
  type NetlinkSocket,
} from "@switchyard/netlink";
import { askKernel, createFamilyResolver } from "../system/ask-kernel.ts";
import { HostError, type HostOperation } from "../../calls/host-error.ts";
import { operations } from "../../calls/operations.ts";
import type { Devlink, EswitchMode } from "../../ports/devices.ts";

export interface LinuxDevlinkDeps {
  /** For short requests. The caller disposes of it. */
  readonly socket: NetlinkSocket;
  /** Opens a socket for a change, which can take minutes: a socket handles one request at a time. */
  readonly openSocket: () => NetlinkSocket;
}

// ENODEV: the device has no devlink instance (igb, 6.12). EOPNOTSUPP: the instance has no eswitch, or mlx5_core without VFs does not
// know its mode yet (5.4). EPERM: on the host of a BlueField, the eswitch belongs to the card's own system (mlx5_core, 5.4 to 6.12).
const withoutEswitch: ReadonlySet<string> = new Set(["ENODEV", "EOPNOTSUPP", "EPERM"]);

// EINVAL: the driver has no such parameter. EBADMSG: the parameter is not a text.
const withoutParameter: ReadonlySet<string> = new Set(["ENODEV", "EOPNOTSUPP", "EINVAL", "EBADMSG"]);

// EOPNOTSUPP: the kernel is older than the reporters (before 5.1).
const withoutReporters: ReadonlySet<string> = new Set(["ENODEV", "EOPNOTSUPP"]);

export function createLinuxDevlink({ socket, openSocket }: LinuxDevlinkDeps): Devlink {
  const resolve = createFamilyResolver(socket, devlinkFamily);
  const { devlink: at } = operations;

  async function read<Value>(
    operation: HostOperation,
    absentCodes: ReadonlySet<string>,
    ask: (family: GenericFamily) => Promise<Value>,
  ): Promise<Value | undefined> {
    try {
      return await askKernel(operation, async () => {
        const family = await resolve();
        return family && (await ask(family));
      });
    } catch (error) {
      if (error instanceof HostError && absentCodes.has(error.code)) return undefined;
      throw error;
    }
  }

  async function change(operation: HostOperation, ask: (family: GenericFamily) => Promise<void>): Promise<void> {
    await askKernel(operation, async () => {
      const family = await resolve();
      if (family === undefined) throw new HostError(operation, "EOPNOTSUPP", { words: "the kernel has no devlink" });
      await using own = openSocket();
      await ask({ socket: own, id: family.id });
    });
  }

  return {
    readEswitchMode: (pf): Promise<EswitchMode | undefined> =>
      read(at.readEswitchMode(pf), withoutEswitch, (family) => getEswitchMode(family, handleOf(pf))),
    setEswitchMode: (pf, mode) =>
      change(at.setEswitchMode(pf, mode), (family) => setEswitchMode(family, handleOf(pf), mode)),
    readParameter: (pf, name) =>
      read(at.readParameter(pf, name), withoutParameter, (family) => getTextParameter(family, handleOf(pf), name)),
    listHealthReporters: async (pf) => {
      const ask = (family: GenericFamily) => listHealthReporters(family, handleOf(pf));
      return (await read(at.listHealthReporters(pf), withoutReporters, ask)) ?? [];
    },
    setParameter: (pf, name, value) =>
      change(at.setParameter(pf, name, value), (family) => setTextParameter(family, handleOf(pf), { name, value })),
  };
}

function handleOf(pf: PciAddress) {
  return { bus: "pci", device: pf };
}
