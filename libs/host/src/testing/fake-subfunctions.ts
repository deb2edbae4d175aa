// SPDX-License-Identifier: Apache-2.0
/**
 * Implements Subfunctions on the fake kernel, with the rules that ice and mlx5_core share and that igbsw of the VM lab
 * has. They exist only in switchdev mode, each number once. There is no change of the address and no removal while
 * active. Its words are those of igbsw.
 */
import { defined, type PciAddress } from "@switchyard/api";
import type { Subfunctions } from "../ports/devices.ts";
import type { PfFunction } from "./fake-functions.ts";
import type { Netdev, Netdevs } from "./fake-netdevs.ts";
import type { PciBus } from "./fake-pci.ts";
import { representorName, type FakePort } from "./nic-models.ts";
import { answer, Refusal } from "./faults.ts";

export interface FakeSubfunctionsDeps {
  readonly find: PciBus["find"];
  readonly netdevs: Netdevs;
  readonly nextMac: () => string;
}

export interface FakeSubfunctions {
  readonly port: Subfunctions;
  /** Removes the subfunctions of a PF that is not in switchdev mode. */
  sync(pf: PfFunction): void;
  /** Returns the model of the PF whose subfunction has this device. */
  modelOf(device: string): FakePort | undefined;
  /** Makes drivers fail on the devices of the PF's subfunctions, so that they have no interface. */
  failSubfunctionProbe(pf: PciAddress): void;
}

interface Port {
  readonly pf: PfFunction;
  readonly portIndex: number;
  readonly sfNumber: number;
  readonly representor: Netdev;
  mac: string;
  device: { readonly name: string; readonly isBound: boolean; netdev: Netdev | undefined } | undefined;
}

const firstPortIndex = 0x8000;
const firstDevice = 2;
const noMac = "00:00:00:00:00:00";

export function createFakeSubfunctions({ find, netdevs, nextMac }: FakeSubfunctionsDeps): FakeSubfunctions {
  const ports = new Set<Port>();
  const nextIndexes = new Map<PfFunction, number>();
  const failing = new Set<PciAddress>();

  /** Returns the PF if its driver has a devlink instance. */
  function instance(address: PciAddress): PfFunction {
    const fn = find(address);
    if (fn?.kind !== "pf" || fn.driver !== fn.nativeDriver || fn.port.eswitchMode === undefined)
      throw new Refusal("ENODEV");
    return fn;
  }

  function portsOf(pf: PfFunction): readonly Port[] {
    return [...ports].filter((port) => port.pf === pf);
  }

  function portAt(address: PciAddress, portIndex: number): Port {
    const port = portsOf(instance(address)).find((one) => one.portIndex === portIndex);
    if (port === undefined) throw new Refusal("ENODEV");
    return port;
  }

  function deviceName({ port }: PfFunction): string {
    const taken = new Set([...ports].map(({ device }) => device?.name));
    const prefix = port.driver === "ice" ? "ice.sf" : "mlx5_core.sf";
    for (let n = firstDevice; ; n++) if (!taken.has(`${prefix}.${n}`)) return `${prefix}.${n}`;
  }

  function addNetdev({ pf, mac }: Port, auxiliary: string): Netdev {
    return netdevs.add({ auxiliary, mac: mac === noMac ? nextMac() : mac, maxMtu: pf.port.maxMtu });
  }

  function activate(port: Port): void {
    const { pf } = port;
    const name = deviceName(pf);
    const isBound = !failing.has(pf.pciAddress);
    const isLight = pf.port.probesSubfunctionsLightly === true;
    port.device = { name, isBound, netdev: isBound && !isLight ? addNetdev(port, name) : undefined };
  }

  function deactivate(port: Port): void {
    if (port.device?.netdev !== undefined) netdevs.remove(port.device.netdev);
    port.device = undefined;
  }

  function removePort(port: Port): void {
    deactivate(port);
    netdevs.remove(port.representor);
    ports.delete(port);
  }

  function requireInactive({ device }: Port): void {
    if (device !== undefined) throw new Refusal("EBUSY", "igbsw: the subfunction is active");
  }

  const port: Subfunctions = {
    list: () =>
      answer(() =>
        [...ports]
          .map(({ pf, portIndex, sfNumber, mac, device, representor }) => {
            const netdev = device?.netdev?.inPod === false ? device.netdev.name : undefined;
            return {
              pf: pf.pciAddress,
              portIndex,
              sfNumber,
              representor: representor.name,
              ...(pf.port.choosesSubfunctionMacs !== true && { mac }),
              state: device === undefined ? ("inactive" as const) : ("active" as const),
              operationalState: device === undefined ? ("detached" as const) : ("attached" as const),
              ...defined({
                device: device?.name,
                driver: device?.isBound === true ? driverOfDevice(device.name) : undefined,
                netdev,
              }),
            };
          })
          .sort((a, b) => (a.pf === b.pf ? a.sfNumber - b.sfNumber : a.pf < b.pf ? -1 : 1)),
      ),
    readLimit: (pf) =>
      answer(() => {
        const { driver, maxSubfunctions } = instance(pf).port;
        return driver === "ice" ? undefined : maxSubfunctions;
      }),
    create: (address, sfNumber) =>
      answer(() => {
        const pf = instance(address);
        const { maxSubfunctions, maxMtu, physSwitchId = "" } = pf.port;
        if (maxSubfunctions === undefined) throw new Refusal("EOPNOTSUPP");
        if (pf.eswitchMode !== "switchdev") throw new Refusal("EOPNOTSUPP", "igbsw: SF ports need switchdev mode");
        const present = portsOf(pf);
        if (present.some((one) => one.sfNumber === sfNumber)) throw new Refusal("EBUSY", "igbsw: the sfnum is in use");
        if (present.length >= maxSubfunctions) throw new Refusal("ENOSPC", "igbsw: the PF has all its subfunctions");
        const portIndex = nextIndexes.get(pf) ?? firstPortIndex;
        nextIndexes.set(pf, portIndex + 1);
        const representor = netdevs.add({
          parent: address,
          mac: nextMac(),
          maxMtu,
          physSwitchId,
          representorOf: "subfunction",
          physPortName: representorName(pf.port, `sf${sfNumber}`),
        });
        ports.add({ pf, portIndex, sfNumber, representor, mac: noMac, device: undefined });
        return portIndex;
      }),
    setMac: (pf, portIndex, mac) =>
      answer(() => {
        const one = portAt(pf, portIndex);
        if (one.pf.port.choosesSubfunctionMacs === true) throw new Refusal("EOPNOTSUPP");
        requireInactive(one);
        one.mac = mac;
      }),
    setActive: (pf, portIndex, active) =>
      answer(() => {
        const one = portAt(pf, portIndex);
        if (!active) deactivate(one);
        else if (one.device === undefined) activate(one);
      }),
    enableEthernet: (name) =>
      answer(() => {
        const one = [...ports].find(({ device }) => device?.name === name);
        if (one?.device?.isBound !== true) throw new Refusal("ENODEV");
        if (one.device.netdev !== undefined) return false;
        one.device.netdev = addNetdev(one, name);
        return true;
      }),
    remove: (pf, portIndex) =>
      answer(() => {
        const one = portAt(pf, portIndex);
        requireInactive(one);
        removePort(one);
      }),
  };

  return {
    port,
    sync(pf) {
      if (pf.eswitchMode !== "switchdev") for (const one of portsOf(pf)) removePort(one);
    },
    modelOf: (device) => [...ports].find((one) => one.device?.name === device)?.pf.port,
    failSubfunctionProbe: (pf) => void failing.add(pf),
  };
}

/** The drivers are named as their devices: "ice.sf" for "ice.sf.2". */
export function driverOfDevice(device: string): string {
  return device.replace(/\.\d+$/, "");
}
