// SPDX-License-Identifier: Apache-2.0
/**
 * Implements the GUIDs that a PF assigns to its InfiniBand VFs (do_setvfinfo in rtnetlink.c, 6.12).
 * Usage: `const rdma = { ...fakeRdma.port, setVfGuid: createSetVfGuid({ bus, netdevs }) }`.
 */
import type { Rdma } from "../ports/rdma.ts";
import type { Netdevs } from "./fake-netdevs.ts";
import type { PciBus } from "./fake-pci.ts";
import { answer, Refusal } from "./refusal.ts";

export function createSetVfGuid({
  bus,
  netdevs,
}: {
  readonly bus: PciBus;
  readonly netdevs: Netdevs;
}): Rdma["setVfGuid"] {
  return (pfName, vfId, guid) =>
    answer(() => {
      const netdev = netdevs.find(pfName);
      const pf = netdev.parent && bus.find(netdev.parent);
      if (pf?.kind !== "pf" || pf.port.linkType !== "infiniband") throw new Refusal("EOPNOTSUPP");
      const vf = pf.vfs[vfId];
      if (vf === undefined) throw new Refusal("EINVAL");
      netdevs.change(netdev, () => {
        vf.guid = guid;
      });
    });
}
