// SPDX-License-Identifier: Apache-2.0
/**
 * Implements Firmware on the fake kernel, for ports of vendor 15b3. The values of a card take effect on a reset of the card
 * and on a reboot: its functions are removed and appear with another limit of VFs or another link type. It refuses what
 * mstconfig refuses (smartnic.md 7.3). The mode of a BlueField changes only when the machine was switched off.
 */
import { withoutFunction } from "@switchyard/api";
import type { PciAddress } from "@switchyard/api";
import {
  cardModeSettingNames,
  firmwareSettingNames,
  type Firmware,
  type FirmwareSetting,
  type FirmwareValues,
  type HostPrivilege,
  type LockdownMode,
} from "../ports/firmware.ts";
import type { PfFunction } from "./fake-functions.ts";
import type { PciBus } from "./fake-pci.ts";
import type { FakePort } from "./nic-models.ts";
import { answer, Refusal } from "./faults.ts";

export interface FakeFirmwareDeps {
  readonly bus: PciBus;
  /** Whether mstconfig and mstfwreset are installed. */
  readonly hasTools: boolean;
  readonly lockdown: LockdownMode;
}

export interface FakeFirmware {
  readonly port: Firmware;
  /**
   * Makes the next values of all cards current while no card is on the bus, as a reboot does; those of their modes only if the
   * machine was switched off.
   */
  boot(wasOff: boolean): void;
  /** Returns the function as its driver finds it after a boot. */
  portAfterBoot(port: FakePort): FakePort;
  /** Sets current and next value of settings of the card of `pf`, also of settings that the model does not have. */
  setByHand(pf: PciAddress, values: Readonly<Record<string, number>>): void;
  /** Sets the privilege level of the host on a BlueField, as its own system does. */
  setPrivilegeByHand(pf: PciAddress, level: HostPrivilege): void;
  /** From now on, resets and reboots leave the current values of the card as they are. */
  freeze(pf: PciAddress): void;
}

interface Card {
  readonly settings: Map<string, FirmwareSetting>;
  isFrozen: boolean;
  privilege: HostPrivilege;
}

const mellanox = "15b3";

/** The firmware of a ConnectX-5 supports 127 VFs per port. */
const mostVfs = 127;

export function createFakeFirmware({ bus, hasTools, lockdown }: FakeFirmwareDeps): FakeFirmware {
  const cards = new Map<string, Card>();

  function portsOf(card: string): readonly PfFunction[] {
    return bus
      .listPfs()
      .filter(({ pciAddress, port }) => port.vendor === mellanox && withoutFunction(pciAddress) === card);
  }

  function findCard(pf: PciAddress): Card {
    const [first] = portsOf(withoutFunction(pf));
    if (first === undefined) throw new Refusal("FIRMWARE_TOOL_FAILED", "mstconfig: -E- Failed to open the device");
    const known = cards.get(withoutFunction(pf));
    if (known !== undefined) return known;
    const settings = new Map(Object.entries(initialValues(first.port)).map(toSetting));
    const card: Card = { settings, isFrozen: false, privilege: "privileged" };
    cards.set(withoutFunction(pf), card);
    return card;
  }

  function checkTools(program: string): void {
    if (!hasTools) throw new Refusal("ENOENT", `${program} is not installed`);
    if (lockdown !== "none") throw new Refusal("FIRMWARE_TOOL_FAILED", `${program}: -E- Failed to open the device`);
  }

  function makeCurrent({ settings, isFrozen }: Card, wasOff: boolean): void {
    if (isFrozen) return;
    for (const [name, { next, ...rest }] of settings) {
      if (isOfMode(name) && !wasOff) continue;
      settings.set(name, next === undefined ? rest : { ...rest, current: next, next });
    }
  }

  function reset(address: string, card: Card): void {
    makeCurrent(card, false);
    if (card.isFrozen) return;
    for (const pf of portsOf(address)) {
      bus.unplug(pf.pciAddress);
      bus.plug(portWith(pf.port, card.settings));
    }
  }

  return {
    port: {
      readLockdown: () => answer(() => lockdown),
      readSettings: (pf) =>
        answer(() => {
          checkTools("mstconfig");
          const { settings } = findCard(pf);
          return new Map([...settings].filter(([name]) => !isHidden(settings, name)));
        }),
      readPrivilege: (pf) =>
        answer(() => {
          checkTools("mstprivhost");
          return findCard(pf).privilege;
        }),
      setValues: (pf, values) =>
        answer(() => {
          checkTools("mstconfig");
          const { settings, privilege } = findCard(pf);
          if (privilege === "restricted") {
            throw new Refusal(
              "FIRMWARE_TOOL_FAILED",
              "mstconfig: -E- Failed to set configuration: Operation is not permitted",
            );
          }
          for (const [name, value] of entriesOf(values)) checkValue(settings, name, value);
          for (const [name, value] of entriesOf(values)) settings.set(name, { ...settings.get(name), next: value });
        }),
      resetCard: (pf) =>
        answer(() => {
          checkTools("mstfwreset");
          const card = findCard(pf);
          if (portsOf(withoutFunction(pf)).some(({ vfs }) => vfs.length > 0)) {
            throw new Refusal("FIRMWARE_TOOL_FAILED", "mstfwreset: -E- The device has virtual functions");
          }
          reset(withoutFunction(pf), card);
        }),
    },
    boot(wasOff) {
      for (const card of cards.values()) makeCurrent(card, wasOff);
    },
    portAfterBoot(port) {
      const card = cards.get(withoutFunction(port.pciAddress));
      return card === undefined ? port : portWith(port, card.settings);
    },
    setByHand(pf, values) {
      const { settings } = findCard(pf);
      for (const [name, value] of Object.entries(values)) settings.set(name, { current: value, next: value });
    },
    setPrivilegeByHand(pf, level) {
      findCard(pf).privilege = level;
    },
    freeze(pf) {
      findCard(pf).isFrozen = true;
    },
  };
}

/** A BlueField leaves the factory in the mode in which its own system controls the network. */
function initialValues({ sriov, linkType, hasOwnSystem }: FakePort): Readonly<Record<string, number>> {
  const type = linkType === "infiniband" ? 1 : 2;
  const enabled = sriov === undefined ? 0 : 1;
  return {
    NUM_OF_VFS: sriov?.totalVfs ?? 0,
    SRIOV_EN: enabled,
    LINK_TYPE_P1: type,
    LINK_TYPE_P2: type,
    ...(hasOwnSystem === true && {
      INTERNAL_CPU_MODEL: 1,
      INTERNAL_CPU_PAGE_SUPPLIER: 0,
      INTERNAL_CPU_ESWITCH_MANAGER: 0,
      INTERNAL_CPU_IB_VPORT0: 0,
      INTERNAL_CPU_OFFLOAD_ENGINE: 0,
    }),
  };
}

function isOfMode(name: string): boolean {
  return cardModeSettingNames.some((each) => each === name);
}

/** The other settings of the mode do not exist in separated host mode. */
function isHidden(settings: ReadonlyMap<string, FirmwareSetting>, name: string): boolean {
  return isOfMode(name) && name !== "INTERNAL_CPU_MODEL" && settings.get("INTERNAL_CPU_MODEL")?.next === 0;
}

function toSetting([name, value]: [string, number]): [string, FirmwareSetting] {
  return [name, { default: value, current: value, next: value }];
}

function entriesOf(values: FirmwareValues): readonly [string, number][] {
  return firmwareSettingNames.flatMap((name): readonly [string, number][] => {
    const value = values[name];
    return value === undefined ? [] : [[name, value]];
  });
}

function checkValue(settings: ReadonlyMap<string, FirmwareSetting>, name: string, value: number): void {
  if (!Number.isInteger(value) || value < 0 || value > 65_535) throw new Refusal("EINVAL");
  if (!settings.has(name) || isHidden(settings, name)) {
    throw new Refusal("FIRMWARE_TOOL_FAILED", `mstconfig: -E- The Device doesn't support ${name} parameter`);
  }
  if (name === "NUM_OF_VFS" && value > mostVfs) {
    throw new Refusal("FIRMWARE_TOOL_FAILED", "mstconfig: -E- Failed to set configuration: Bad parameter");
  }
}

/** The function as its driver finds it with these current values. */
function portWith(port: FakePort, settings: ReadonlyMap<string, FirmwareSetting>): FakePort {
  const valueOf = (name: string): number => settings.get(name)?.current ?? 0;
  const { sriov = port.withoutSriov, ...rest } = port;
  const totalVfs = valueOf("NUM_OF_VFS");
  const isInfiniBand = valueOf(port.pciAddress.endsWith(".1") ? "LINK_TYPE_P2" : "LINK_TYPE_P1") === 1;
  const withType = { ...rest, linkType: isInfiniBand ? "infiniband" : "ether" } as const;
  if (sriov === undefined) return withType;
  const isOn = valueOf("SRIOV_EN") === 1 && totalVfs > 0;
  // The VFs of a port follow those of the ports before it.
  const offset = sriov.offset + Number(port.pciAddress.slice(-1)) * (totalVfs - sriov.totalVfs);
  return isOn ? { ...withType, sriov: { ...sriov, totalVfs, offset } } : { ...withType, withoutSriov: sriov };
}
