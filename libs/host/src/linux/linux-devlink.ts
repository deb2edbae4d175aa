// SPDX-License-Identifier: Apache-2.0
/**
 * Devlink over generic netlink. Usage: `createLinuxDevlink(new NetlinkSocket({ protocol: protocols.generic }))`.
 */
import {
  devlinkFamily,
  getEswitchMode,
  resolveFamily,
  type GenericFamily,
  type NetlinkSocket,
} from "@switchyard/netlink";
import { askKernel } from "./ask-kernel.ts";
import { attempts } from "../calls/operations.ts";
import type { Devlink, EswitchMode } from "../ports/devlink.ts";
import { HostError } from "../calls/host-error.ts";

// ENODEV: no devlink instance (igb, 6.12). EOPNOTSUPP: one without an eswitch.
const withoutEswitch: ReadonlySet<string> = new Set(["ENODEV", "EOPNOTSUPP"]);

/** Who opened the socket disposes of it. */
export function createLinuxDevlink(socket: NetlinkSocket): Devlink {
  let family: Promise<GenericFamily | undefined> | undefined;

  /** Asked once: whether a kernel has devlink, and its id, are settled at boot. */
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
        return await askKernel(attempts.devlink.readEswitchMode(pf), async () => {
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
