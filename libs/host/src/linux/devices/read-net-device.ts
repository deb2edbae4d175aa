// SPDX-License-Identifier: Apache-2.0
/**
 * readNetDevice reads the device of a network interface from sysfs. Between the interface and its PCI function there can be another
 * device: that of virtio, or of a subfunction.
 */
import { defined, parsePciAddress } from "@switchyard/api";
import { basename, dirname, join } from "node:path";
import type { NetDevice } from "../../ports/xdp.ts";
import { readNumaNode } from "../system/read-pci-functions.ts";
import { exists, readAttribute, readLinkName, readRealPath } from "../system/read-sysfs.ts";

/** Returns undefined if there is no such interface, and {} for a virtual interface. Throws errors of Node. */
export function readNetDevice(root: string, name: string): NetDevice | undefined {
  const netdev = join(root, "sys/class/net", name);
  if (!isName(name) || !exists(netdev)) return undefined;
  const device = readRealPath(join(netdev, "device"));
  if (device === undefined) return {};
  const driver = readLinkName(join(device, "driver"));
  const pci = pciDirectory(device);
  const numaNode = readNumaNode(pci ?? device);
  if (pci === undefined) return defined({ driver, numaNode });
  const [vendor, deviceId] = ["vendor", "device"].map((file) => readAttribute(join(pci, file)));
  const address = parsePciAddress(basename(pci));
  return defined({
    driver,
    pciAddress: address.ok ? address.value : undefined,
    numaNode,
    vendor: vendor?.replace(/^0x/, ""),
    deviceId: deviceId?.replace(/^0x/, ""),
  });
}

/** Returns the directory of the PCI function that the device is, or is part of. */
function pciDirectory(device: string): string | undefined {
  for (let at = device; at !== dirname(at); at = dirname(at)) if (parsePciAddress(basename(at)).ok) return at;
  return undefined;
}

function isName(name: string): boolean {
  return !name.includes("/") && !name.includes("\0") && name !== "" && name !== "." && name !== "..";
}
