// SPDX-License-Identifier: Apache-2.0
/**
 * Configures a host and reports it as upstream's daemon does. It creates VFs in its order (sriov-operator.md F.6), gives VFs of
 * InfiniBand a GUID, and writes a record and a udev rule for each PF (sriov-operator.md F.7). The status has upstream's fields only
 * (sriov-operator.md A.5).
 */
import {
  parseGuid,
  parseMacAddress,
  type Guid,
  type InterfaceSpec,
  type InterfaceStatus,
  type VfGroup,
} from "@switchyard/api";
import type { EswitchMode, Link, SysfsPf, SysfsVf } from "@switchyard/host";
import { pci, upstreamHelpers, upstreamRules, type FakeKernel } from "@switchyard/host/testing";
import { parseVfRange } from "@switchyard/policy";
import { randomBytes } from "node:crypto";

/** Creates the VFs, sets the driver, address and MTU of each, and records the PF. */
export async function configureAsUpstream(kernel: FakeKernel, spec: InterfaceSpec): Promise<void> {
  const host = kernel.host();
  const pf = pci(spec.pciAddress);
  const { name: pfName, mtu } = await linkOf(kernel, spec.pciAddress);
  if (spec.externallyManaged !== true) {
    if (spec.eSwitchMode === "switchdev") await host.devlink.setEswitchMode(pf, "switchdev");
    await host.sriov.setNumVfs(pf, spec.numVfs ?? 0);
    if ((spec.mtu ?? 0) > mtu) await host.links.setMtu(pfName, spec.mtu ?? 0);
  }
  await settle(kernel);
  for (const vf of await vfsOf(kernel, spec.pciAddress)) {
    const group = spec.vfGroups?.find((each) => contains(each, vf.vfId));
    if (group === undefined) continue;
    const link = await linkOf(kernel, vf.pciAddress);
    const mac = parseMacAddress(link.mac);
    if (mac.ok) await host.links.setVfMac(pfName, vf.vfId, mac.value);
    if (link.type === "infiniband") {
      await host.rdma.setVfGuid(pfName, vf.vfId, randomGuid());
      await host.sriov.unbindDriver(vf.pciAddress);
      await host.sriov.bindDriver(vf.pciAddress, vf.driver ?? "");
    }
    if (group.deviceType === "vfio-pci") {
      await host.sriov.unbindDriver(vf.pciAddress);
      await host.modules.load("vfio-pci");
      await host.sriov.setDriverOverride(vf.pciAddress, "vfio-pci");
      await host.sriov.bindDriver(vf.pciAddress, "vfio-pci");
      await host.sriov.setDriverOverride(vf.pciAddress, undefined);
    } else if ((group.mtu ?? 0) > 0) await host.links.setMtu(link.name, group.mtu ?? 0);
  }
  await host.records.save(pf, { spec });
  const rules = spec.externallyManaged === true ? [] : upstreamRules(pf, pfName);
  for (const [path, text] of [...rules, ...upstreamHelpers]) kernel.writeFile(path, text);
  await settle(kernel);
}

/**
 * Returns status.interfaces as upstream's daemon reports it: VFs in the order of their file names, without the fields
 * that only Switchyard writes.
 */
export async function statusByUpstream(kernel: FakeKernel): Promise<readonly InterfaceStatus[]> {
  const host = kernel.host();
  const [pfs, links, records] = await Promise.all([host.sriov.listPfs(), host.links.listLinks(), host.records.list()]);
  return Promise.all(
    pfs.map(async (pf) => {
      const link = links.find(
        ({ parent, physPortName }) => parent?.name === pf.pciAddress && !isRepresentor(physPortName),
      );
      const external = records.get(pf.pciAddress)?.spec.externallyManaged === true;
      const eSwitchMode = (await host.devlink.readEswitchMode(pf.pciAddress)) ?? "legacy";
      const vfs = vfStatuses(pf, links);
      return { ...pfStatus(pf, link, eSwitchMode), ...(external && { externallyManaged: true }), ...vfs };
    }),
  );
}

function isRepresentor(physPortName = ""): boolean {
  return /vf\d+$/.test(physPortName);
}

/**
 * Returns what was changed on the host after the first `from` writes. Records and files are not listed, and so is the
 * request to udev to read its rules again, which changes no device.
 */
export function changesOf(kernel: FakeKernel, from: number): readonly string[] {
  return kernel.writes
    .slice(from)
    .filter(({ port, method }) => !["records", "files"].includes(port) && method !== "reloadRules")
    .map(({ port, method, args }) => `${port}.${method} ${args.join(" ")}`);
}

function randomGuid(): Guid {
  const parsed = parseGuid(
    randomBytes(8)
      .toString("hex")
      .replaceAll(/(..)(?=.)/g, "$1:"),
  );
  if (!parsed.ok) throw new TypeError("eight bytes are a GUID");
  return parsed.value;
}

function pfStatus(pf: SysfsPf, link: Link | undefined, eSwitchMode: EswitchMode): InterfaceStatus {
  const { pciAddress, driver = "", vendor, deviceId: deviceID } = pf;
  return {
    pciAddress,
    driver,
    vendor,
    deviceID,
    linkSpeed: "25000 Mb/s",
    linkType: link?.type === "infiniband" ? "IB" : "ETH",
    linkAdminState: "up",
    ...(link && { name: link.name, mac: link.mac, mtu: link.mtu }),
    ...(link !== undefined && link.altNames.length > 0 && { altNames: link.altNames }),
    ...(pf.sriov && { totalvfs: pf.sriov.totalVfs, eSwitchMode }),
    ...(pf.sriov !== undefined && pf.sriov.numVfs > 0 && { numVfs: pf.sriov.numVfs }),
  };
}

function vfStatuses({ sriov }: SysfsPf, links: readonly Link[]): Pick<InterfaceStatus, "Vfs"> {
  if (sriov === undefined || sriov.vfs.length === 0) return {};
  const byFileName = sriov.vfs.toSorted((a, b) => (`${a.vfId}` < `${b.vfId}` ? -1 : 1));
  return {
    Vfs: byFileName.map(({ vfId: vfID, pciAddress, driver = "", vendor, deviceId: deviceID }) => {
      const link = links.find(({ parent }) => parent?.name === pciAddress);
      const fields = link && { name: link.name, mac: link.mac, mtu: link.mtu };
      const guid = links.flatMap(({ vfs }) => vfs.filter((vf) => vf.vfId === vfID && vf.guid !== undefined))[0]?.guid;
      return { vfID, pciAddress, driver, vendor, deviceID, ...fields, ...(guid !== undefined && { guid }) };
    }),
  };
}

async function settle(kernel: FakeKernel): Promise<void> {
  await kernel.host().udev.settle({ timeoutMs: 30_000, signal: new AbortController().signal });
}

async function vfsOf(kernel: FakeKernel, pciAddress: string): Promise<readonly SysfsVf[]> {
  return (await kernel.host().sriov.readPf(pci(pciAddress)))?.sriov?.vfs ?? [];
}

async function linkOf(kernel: FakeKernel, pciAddress: string): Promise<Link> {
  const links = await kernel.host().links.listLinks();
  const found = links.find(({ parent, physPortName }) => parent?.name === pciAddress && !isRepresentor(physPortName));
  if (found === undefined) throw new Error(`${pciAddress} has no interface`);
  return found;
}

function contains({ vfRange = "" }: VfGroup, vfId: number): boolean {
  const range = parseVfRange(vfRange);
  return range.ok && range.value.first <= vfId && vfId <= range.value.last;
}
