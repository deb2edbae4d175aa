// SPDX-License-Identifier: Apache-2.0
/**
 * ContractWorld is the machine on which the cases of the host contract run: a fake kernel or a real one. A case must pass on
 * both without knowing which one it uses.
 */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { defined, parseMacAddress, type MacAddress, type PciAddress } from "@switchyard/api";
import { HostError } from "../../calls/host-error.ts";
import type { Host } from "../../ports/host.ts";
import type { Link } from "../../ports/links.ts";
import type { RdmaMode } from "../../ports/devices.ts";
import type { SysfsPf, SysfsVf } from "../../ports/sriov-sysfs.ts";

/** A machine with one dual-port igb, and the actions of its administrator. */
export interface ContractWorld {
  readonly host: Host;
  /** Both ports, driven by igb, without VFs; their interfaces are up. */
  readonly pfs: readonly [PciAddress, PciAddress];
  /** Whether the driver is igbsw of the VM lab, which is igb, also by name, with an eswitch in legacy mode. */
  readonly hasEswitch: boolean;
  /** Whether udev runs. */
  readonly hasUdev: boolean;
  /** Returns the properties of an interface in the database of udev. */
  readonly udevProperties: (name: string) => Promise<Readonly<Record<string, string>>>;
  /** The PF of a virtio NIC with two VFs, which are not in use; absent on a machine without one. */
  readonly virtioPf?: PciAddress | undefined;
  /** An address without a function. */
  readonly absent: PciAddress;
  readonly renameLink: (name: string, newName: string) => Promise<void>;
  readonly addAltName: (name: string, altName: string) => Promise<void>;
  readonly setPromiscuous: (name: string) => Promise<void>;
  /** Adds a virtual interface, such as a "bridge" or a "vlan" on `lower`, which is up until the end of the case. */
  readonly addLink: (name: string, kind: string, lower?: string) => Promise<void>;
  /** Makes an interface a port of a bridge. */
  readonly setMaster: (name: string, master: string) => Promise<void>;
  /** Adds a route to "default", to an IPv4 address or to an IPv4 network, until the end of the case. */
  readonly addRoute: (destination: string, name: string) => Promise<void>;
  /** Removes what addLink and addRoute added. */
  readonly removeLinksAndRoutes: () => Promise<void>;
  /** Moves the interface of a VF to another network namespace. */
  readonly moveToPod: (vf: PciAddress, name: string) => Promise<void>;
  /** Moves another interface there. */
  readonly moveLinkToPod: (name: string) => Promise<void>;
  /** Moves all these interfaces back to the host. */
  readonly returnFromPods: () => Promise<void>;
  /** Creates a software RDMA device on the interface `link`. */
  readonly addRdmaDevice: (name: string, link: string) => Promise<void>;
  /** Removes these devices and unloads ib_core, if loaded. */
  readonly unloadRdma: () => Promise<void>;
  readonly setRdmaMode: (mode: RdmaMode) => Promise<void>;
  /** Loads vdpa_sim_net, the simulator of a vDPA management device. */
  readonly loadVdpaSimulator: () => Promise<void>;
  /** Unloads the simulator, the drivers of vDPA devices, and vDPA. */
  readonly unloadVdpa: () => Promise<void>;
  /** Creates missing directories. */
  readonly writeFile: (path: string, text: string) => Promise<void>;
  readonly linkFile: (path: string, target: string) => Promise<void>;
}

/** One test. Its name is a sentence about a host. */
export interface ContractCase {
  readonly name: string;
  run(world: ContractWorld): Promise<void>;
}

const timeoutMs = 30_000;

export function mac(text: string): MacAddress {
  const parsed = parseMacAddress(text);
  assert(parsed.ok);
  return parsed.value;
}

/** Runs the case and restores the initial state, whether it passed or failed. */
export async function runContractCase(contractCase: ContractCase, world: ContractWorld): Promise<void> {
  try {
    await contractCase.run(world);
  } finally {
    await restore(world);
  }
}

async function restore({ host, pfs, hasEswitch, returnFromPods, removeLinksAndRoutes }: ContractWorld): Promise<void> {
  await returnFromPods();
  await removeLinksAndRoutes();
  for (const { name, isOwn } of await host.linuxBridges.listBridges())
    if (isOwn) await host.linuxBridges.deleteBridge(name);
  for (const pf of pfs) {
    if ((await host.sriov.readPf(pf))?.driver === undefined) await host.sriov.probeDrivers(pf);
    if (hasEswitch) await host.devlink.setEswitchMode(pf, "legacy");
    await host.sriov.setNumVfs(pf, 0);
    await settle(host);
    const { name, mtu, adminUp } = await linkOf(host, pf);
    if (mtu !== 1_500) await host.links.setMtu(name, 1_500);
    if (!adminUp) await host.links.setAdminUp(name, true);
  }
}

/** With `pf`, waits for the interfaces of this PF and its VFs only. */
export function settle(host: Host, pf?: PciAddress): Promise<void> {
  return host.udev.settle({ timeoutMs, signal: new AbortController().signal, ...defined({ pf }) });
}

/** Returns the first value that passes the check. Rejects with the last error of the check after 30 s. */
export async function eventually<Value>(read: () => Promise<Value>, check: (value: Value) => void): Promise<Value> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const value = await read();
    try {
      check(value);
      return value;
    } catch (objection) {
      if (performance.now() > deadlineMs) throw objection;
    }
    await delay(10);
  }
}

export async function readPf(host: Host, pf: PciAddress): Promise<SysfsPf> {
  const facts = await host.sriov.readPf(pf);
  assert(facts, `${pf} is a PF`);
  return facts;
}

/** Returns the present VFs of a PF. */
export async function readVfs(host: Host, pf: PciAddress): Promise<readonly SysfsVf[]> {
  return (await readPf(host, pf)).sriov?.vfs ?? [];
}

/** Creates VFs, and waits until each has a driver, and an interface with its final name. */
export async function makeVfs(host: Host, pf: PciAddress, count: number): Promise<readonly SysfsVf[]> {
  await host.sriov.setNumVfs(pf, count);
  await eventually(
    () => readVfs(host, pf),
    (vfs) => {
      assert.equal(vfs.length, count);
      for (const vf of vfs) assert.deepEqual([vf.driver, vf.netdevs.length], ["igbvf", 1]);
    },
  );
  await settle(host);
  return readVfs(host, pf);
}

/** Creates one VF as makeVfs does. */
export async function makeVf(host: Host, pf: PciAddress): Promise<SysfsVf> {
  const [vf] = await makeVfs(host, pf, 1);
  assert(vf);
  return vf;
}

/** Waits for the only interface of a function. */
export async function linkOf(host: Host, device: PciAddress): Promise<Link> {
  const [link] = await eventually(
    () => linksOf(host, device),
    (links) => {
      assert.equal(links.length, 1, `${device} has one interface`);
    },
  );
  assert(link);
  return link;
}

/** Returns the interfaces of a function. */
export async function linksOf(host: Host, device: PciAddress): Promise<readonly Link[]> {
  return (await host.links.listLinks()).filter(({ parent }) => parent?.bus === "pci" && parent.name === device);
}

/** Expects a HostError with this errno and these words. */
export async function assertRefused(act: Promise<unknown>, code: string, words?: string): Promise<void> {
  await assert.rejects(act, (error) => {
    assert(error instanceof HostError, `not a HostError: ${String(error)}`);
    assert.deepEqual([error.code, error.words], [code, words], error.message);
    return true;
  });
}

/** Expects a HostError with this errno and any words: the kernel changes its explanations. */
export async function assertRefusedBy(act: Promise<unknown>, code: string): Promise<void> {
  await assert.rejects(act, (error) => {
    assert.equal(error instanceof Error && "code" in error ? error.code : error, code);
    return true;
  });
}
