// SPDX-License-Identifier: Apache-2.0
/** awaitInterface reads what the pod has of its network: the interface in sysfs, addresses, VFIO groups and RDMA devices. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import type { FoundInterface, InterfaceObservation } from "../observation.ts";

const classNet = "/sys/class/net";
/** IFF_UP (include/uapi/linux/if.h). */
const flagUp = 1;

/**
 * Waits until the interface has a carrier and an address, or the time is over. A link needs up to some seconds after the CNI plugin
 * has set it up, and Node.js leaves out the addresses of an interface that is not running.
 */
export async function awaitInterface(name: string, mostSeconds: number): Promise<InterfaceObservation> {
  for (let second = 0; ; second++) {
    const { found, ...others } = readInterface(name);
    const isComplete = found === undefined || (found.hasCarrier && found.addresses.length > 0);
    if (isComplete || second >= mostSeconds) return { ...others, ...(found !== undefined && { found }) };
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

function readInterface(name: string): InterfaceObservation {
  const found = readFound(name);
  const mode = readText("/sys/module/ib_core/parameters/netns_mode");
  return {
    kind: "interface",
    names: list(classNet),
    ...(found !== undefined && { found }),
    vfioGroups: list("/dev/vfio").filter((entry) => entry !== "vfio"),
    rdmaDevices: list("/sys/class/infiniband"),
    hasUverbs: list("/dev/infiniband").some((entry) => entry.startsWith("uverbs")),
    ...(mode !== "" && { rdmaMode: mode === "Y" ? "shared" : "exclusive" }),
  };
}

function readFound(name: string): FoundInterface | undefined {
  const path = `${classNet}/${name}`;
  if (!existsSync(path)) return undefined;
  const addresses = (networkInterfaces()[name] ?? []).filter(({ address }) => !/^fe80:/i.test(address));
  return {
    mac: readText(`${path}/address`),
    mtu: Number(readText(`${path}/mtu`)),
    isUp: (Number(readText(`${path}/flags`)) & flagUp) !== 0,
    // The kernel refuses to say (EINVAL) while the interface is down.
    hasCarrier: readText(`${path}/carrier`) === "1",
    addresses: addresses.flatMap(({ cidr }) => cidr ?? []),
  };
}

/** The text of a file without the white space around it; empty if it cannot be read. */
export function readText(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}

function list(path: string): readonly string[] {
  try {
    return readdirSync(path).sort();
  } catch {
    return [];
  }
}
