// SPDX-License-Identifier: Apache-2.0
/**
 * What the node has now. Reads only; every answer comes from the kernel, none from memory.
 * Usage: `const { interfaces } = await observe(host);`
 */
import type { InterfaceStatus, SystemSettings } from "@switchyard/api";
import type { Host, PfFacts } from "@switchyard/host";
import { groupByDevice, toInterfaceStatus, uplinkOf, type LinksByDevice } from "./interface-status.ts";

/** The node's hardware at one moment. */
export interface Observation {
  /** All network PFs by ascending PCI address. */
  readonly interfaces: readonly InterfaceStatus[];
  /** Without rdmaMode where the node has none. */
  readonly system: SystemSettings;
  /** The boot that this is of. */
  readonly bootId: string;
}

/** Rejects with HostError when the host cannot be read at all; one PF that vanishes meanwhile is left out. */
export async function observe(host: Host): Promise<Observation> {
  const [pfs, links, records, rdmaMode, bootId] = await Promise.all([
    host.sriov.listPfs(),
    host.links.listLinks(),
    host.records.list(),
    host.rdma.readMode(),
    host.boot.readBootId(),
  ]);
  const byDevice = groupByDevice(links);
  const interfaces = await Promise.all(
    pfs.map(async (pf) => {
      const [eSwitchMode, speedMbps] = await Promise.all([readEswitchMode(host, pf), readSpeed(host, pf, byDevice)]);
      return toInterfaceStatus({ pf, links: byDevice, eSwitchMode, speedMbps, record: records.get(pf.pciAddress) });
    }),
  );
  return { interfaces, system: rdmaMode === undefined ? {} : { rdmaMode }, bootId };
}

async function readEswitchMode(host: Host, pf: PfFacts): ReturnType<Host["devlink"]["readEswitchMode"]> {
  return pf.sriov === undefined ? undefined : host.devlink.readEswitchMode(pf.pciAddress);
}

async function readSpeed(host: Host, pf: PfFacts, links: LinksByDevice): Promise<number | undefined> {
  const uplink = uplinkOf(links.get(pf.pciAddress) ?? []);
  return uplink === undefined ? undefined : host.links.readSpeedMbps(uplink.name);
}
