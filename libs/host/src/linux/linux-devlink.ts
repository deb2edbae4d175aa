// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxDevlink implements Devlink over generic netlink.
 * Usage: `createLinuxDevlink(new NetlinkSocket({ protocol: protocols.generic }))`.
 */
import {
  devlinkFamily,
  getEswitchMode,
  resolveFamily,
  type GenericFamily,
  type NetlinkSocket,
} from "@switchyard/netlink";
import { askKernel } from "./ask-kernel.ts";
import { operations } from "../calls/operations.ts";
import type { Devlink, EswitchMode } from "../ports/devlink.ts";
import { HostError } from "../calls/host-error.ts";

// ENODEV: the device has no devlink instance (igb, 6.12). EOPNOTSUPP: the instance has no eswitch.
const withoutEswitch: ReadonlySet<string> = new Set(["ENODEV", "EOPNOTSUPP"]);

/** The caller disposes of the socket. */
export function createLinuxDevlink(socket: NetlinkSocket): Devlink {
  let family: Promise<GenericFamily | undefined> | undefined;

  /** Resolves the family once: its id does not change until the next boot. */
  async function resolveOnce(): Promise<GenericFamily | undefined> {
    family ??= resolveFamily(socket, devlinkFamily);
    try {
      return await family;
    } catch (error) {
      family = undefined;
      throw error;
    }
  }

  return {
    async readEswitchMode(pf): Promise<EswitchMode | undefined> {
      try {
        return await askKernel(operations.devlink.readEswitchMode(pf), async () => {
          const devlink = await resolveOnce();
          return devlink && (await getEswitchMode(devlink, { bus: "pci", device: pf }));
        });
      } catch (error) {
        if (error instanceof HostError && withoutEswitch.has(error.code)) return undefined;
        throw error;
      }
    },
  };
}
