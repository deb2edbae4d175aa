// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxSubfunctions implements Subfunctions over devlink. The device of a subfunction is found by the devlink
 * instance that its port names (Linux 6.7). Before that it is found by the file `sfnum` of the devices below the PF,
 * never by a name of an interface.
 */
import { defined, parsePciAddress, type PciAddress } from "@switchyard/api";
import {
  addSubfunctionPort,
  deletePort,
  devlinkFamily,
  getFlagParameter,
  listDevlinkPorts,
  listResources,
  NetlinkError,
  reloadInstance,
  setFlagParameter,
  setPortAddress,
  setPortState,
  type DevlinkPort,
  type GenericFamily,
  type NetlinkSocket,
} from "@switchyard/netlink";
import { join } from "node:path";
import { HostError, withHostError, type HostOperation } from "../../calls/host-error.ts";
import { operations } from "../../calls/operations.ts";
import type { Subfunction, Subfunctions } from "../../ports/devices.ts";
import { askKernel, createFamilyResolver } from "../system/ask-kernel.ts";
import { readAttribute, readLinkName, readNames } from "../system/read-sysfs.ts";

export interface LinuxSubfunctionsDeps {
  /** Directory that contains sys: "/" or "/host". Its sysfs must show the network namespace of the daemon. */
  readonly root: string;
  /** A socket of protocol generic for short requests. The caller disposes of it. */
  readonly socket: NetlinkSocket;
  /**
   * Opens a socket for changes, during which drivers are bound and unbound: a socket handles one request at a time. The caller
   * disposes of the sockets.
   */
  readonly openSocket: () => NetlinkSocket;
}

/** Name of the limit of mlx5. Other drivers have none in 6.12. */
const limitName = "max_local_SFs";

export function createLinuxSubfunctions({ root, socket, openSocket }: LinuxSubfunctionsDeps): Subfunctions {
  const { subfunctions: at } = operations;
  const resolve = createFamilyResolver(socket, devlinkFamily);
  /** Each of the many subfunctions needs several changes, and a socket has a large buffer. */
  const idle: NetlinkSocket[] = [];
  /** A list of all ports for each of the many subfunctions would be slow. */
  const pfNumbers = new Map<PciAddress, number>();

  function ask<Value>(operation: HostOperation, act: (family: GenericFamily) => Promise<Value>): Promise<Value> {
    return askKernel(operation, async () => {
      const family = await resolve();
      if (family === undefined) throw new HostError(operation, "ENODEV", { words: "the kernel has no devlink" });
      return act(family);
    });
  }

  function change<Value>(operation: HostOperation, act: (family: GenericFamily) => Promise<Value>): Promise<Value> {
    return ask(operation, async ({ id }) => {
      const own = idle.pop() ?? openSocket();
      let isBusy = false;
      try {
        return await act({ socket: own, id });
      } catch (error) {
        isBusy = error instanceof NetlinkError && error.code === "ETIMEDOUT"; // the kernel still works on the request
        throw error;
      } finally {
        if (!isBusy) idle.push(own);
      }
    });
  }

  async function listPorts(): Promise<readonly OwnPort[]> {
    const family = await resolve();
    const ports = family === undefined ? [] : await listDevlinkPorts(family);
    return ports.flatMap((port) => {
      const pf = port.handle.bus === "pci" ? parsePciAddress(port.handle.device) : undefined;
      if (pf?.ok !== true || port.flavour !== "pcisf" || port.isExternal || port.sfNumber === undefined) return [];
      return [{ port, pf: pf.value, sfNumber: port.sfNumber }];
    });
  }

  function describe({ port, pf, sfNumber }: OwnPort): Subfunction {
    const { address, state = "inactive", operationalState = "detached", instance } = port.function ?? {};
    const device = instance?.bus === "auxiliary" ? instance.device : findBySfNumber(pciDirectory(root, pf), sfNumber);
    const directory = device === undefined || !isFileName(device) ? undefined : deviceDirectory(root, device);
    const [netdev] = (directory && readNames(join(directory, "net"))) ?? [];
    const driver = directory && readLinkName(join(directory, "driver"));
    return {
      pf,
      portIndex: port.index,
      sfNumber,
      state,
      operationalState,
      ...defined({ mac: address, device, driver, netdev, representor: port.netdev?.name }),
    };
  }

  return {
    list: () =>
      withHostError(at.list(), () =>
        askKernel(at.list(), async () => {
          const found = (await listPorts()).map(describe);
          return found.sort((a, b) => (a.pf === b.pf ? a.sfNumber - b.sfNumber : a.pf < b.pf ? -1 : 1));
        }),
      ),
    async readLimit(pf) {
      try {
        const resources = await ask(at.readLimit(pf), (family) => listResources(family, handleOf(pf)));
        return resources.find(({ name }) => name === limitName)?.size;
      } catch (error) {
        // EOPNOTSUPP: the driver has no resources.
        if (error instanceof HostError && error.code === "EOPNOTSUPP") return undefined;
        throw error;
      }
    },
    create: (pf, sfNumber) =>
      change(at.create(pf, sfNumber), async (family) => {
        const pfNumber = pfNumbers.get(pf) ?? pfNumberIn(await listDevlinkPorts(family), pf);
        pfNumbers.delete(pf); // only a number that the driver accepts is kept: another card may be at the address
        const { index } = await addSubfunctionPort(family, handleOf(pf), { pfNumber, sfNumber });
        pfNumbers.set(pf, pfNumber);
        return index;
      }),
    setMac: (pf, portIndex, mac) =>
      change(at.setMac(pf, portIndex, mac), (family) => setPortAddress(family, portOf(pf, portIndex), mac)),
    setActive: (pf, portIndex, active) =>
      change(at.setActive(pf, portIndex, active), (family) =>
        setPortState(family, portOf(pf, portIndex), active ? "active" : "inactive"),
      ),
    enableEthernet: (device) =>
      change(at.enableEthernet(device), async (family) => {
        const handle = { bus: "auxiliary", device };
        if ((await ethernetParameter(family, device)) !== false) return false;
        await setFlagParameter(family, handle, { name: ethernetName, value: true });
        await reloadInstance(family, handle);
        return true;
      }),
    remove: (pf, portIndex) => change(at.remove(pf, portIndex), (family) => deletePort(family, portOf(pf, portIndex))),
  };
}

/** Parameter of mlx5_core for the class Ethernet of a subfunction. */
const ethernetName = "enable_eth";

/** Returns undefined if the device has no such parameter. */
async function ethernetParameter(family: GenericFamily, device: string): Promise<boolean | undefined> {
  try {
    return await getFlagParameter(family, { bus: "auxiliary", device }, ethernetName);
  } catch (error) {
    if (error instanceof NetlinkError && (error.code === "EINVAL" || error.code === "EOPNOTSUPP")) return undefined;
    throw error;
  }
}

interface OwnPort {
  readonly port: DevlinkPort;
  readonly pf: PciAddress;
  readonly sfNumber: number;
}

/** Finds the auxiliary device with this file `sfnum`, which mlx5_core has. */
function findBySfNumber(pfDirectory: string, sfNumber: number): string | undefined {
  for (const name of readNames(pfDirectory) ?? []) {
    if (!/^[\w-]+\.sf\.\d+$/.test(name)) continue;
    if (readAttribute(join(pfDirectory, name, "sfnum")) === `${sfNumber}`) return name;
  }
  return undefined;
}

function handleOf(pf: PciAddress) {
  return { bus: "pci", device: pf };
}

function portOf(pf: PciAddress, index: number) {
  return { handle: handleOf(pf), index };
}

/**
 * Returns the number that the driver has for the PF. Other ports of the PF name it. Without one, it is the number of the physical
 * port: mlx5_core has the same function for both (mlx5_get_dev_index), and ice the same field (pf_id), in 6.12. The number of the
 * PCI function, which is the last resort, is another one in a virtual machine and on cards whose ports are devices of their own.
 */
function pfNumberIn(ports: readonly DevlinkPort[], pf: PciAddress): number {
  const own = ports.filter(({ handle, isExternal }) => handle.bus === "pci" && handle.device === pf && !isExternal);
  const named = own.find(({ pfNumber }) => pfNumber !== undefined)?.pfNumber;
  const physical = own.find(
    ({ flavour, portNumber }) => flavour === "physical" && portNumber !== undefined,
  )?.portNumber;
  return named ?? physical ?? Number.parseInt(pf.slice(-1), 16);
}

function pciDirectory(root: string, pf: PciAddress): string {
  return join(root, "sys/bus/pci/devices", pf);
}

function deviceDirectory(root: string, device: string): string {
  return join(root, "sys/bus/auxiliary/devices", device);
}

function isFileName(name: string): boolean {
  return /^[\w.-]+$/.test(name) && name !== "." && name !== "..";
}
