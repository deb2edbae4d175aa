// SPDX-License-Identifier: Apache-2.0
/** Implements Links on the fake kernel, with the errors and texts of net/core/dev.c and rtnetlink.c (6.12). */
import { defined } from "@switchyard/api";
import type { Rdma } from "../ports/devices.ts";
import type { Link, Links, VfSetting } from "../ports/links.ts";
import { isVirtio, noGuid, portOf, type PfFunction, type VfFunction, type VfSettings } from "./fake-functions.ts";
import { deviceOf, type Netdev, type Netdevs } from "./fake-netdevs.ts";
import { addNetdev, type PciBus } from "./fake-pci.ts";
import type { KernelClock } from "./clock.ts";
import type { QuirksByPf } from "./driver-quirks.ts";
import { answer, Refusal } from "./faults.ts";
import type { FakeSriov } from "./nic-models.ts";

export interface FakeLinksDeps {
  readonly bus: PciBus;
  readonly netdevs: Netdevs;
  readonly clock: Pick<KernelClock, "later">;
  readonly quirks: QuirksByPf;
  readonly nextMac: () => string;
  /** Reports whether the port of the PF has a carrier, if its interface is up. */
  readonly hasCarrier: (pf: PfFunction) => boolean;
  /** Called when the driver resets the PF. */
  readonly onReset: (pf: PfFunction) => void;
}

const minMtu = 68;
const noMac = "00:00:00:00:00:00";

export function createFakeLinks(deps: FakeLinksDeps): Links {
  const { bus, netdevs, clock, quirks, hasCarrier, onReset } = deps;

  function pfOf(netdev: Netdev): PfFunction | undefined {
    const fn = netdev.parent && bus.find(netdev.parent);
    return fn?.kind === "pf" ? fn : undefined;
  }

  function refuseMtu(netdev: Netdev): void {
    const fn = netdev.parent && netdev.representorOf === undefined ? bus.find(netdev.parent) : undefined;
    if (fn?.kind !== "pf" && fn?.kind !== "vf") return;
    const { refusesMtu } = quirks.of(fn.kind === "pf" ? fn.pciAddress : fn.pf.pciAddress);
    if (refusesMtu?.of === (fn.kind === "pf" ? "pf" : "vfs")) throw new Refusal(refusesMtu.code);
  }

  function typeOf(netdev: Netdev): Link["type"] {
    const fn = netdev.parent && bus.find(netdev.parent);
    return (fn && portOf(fn).linkType) ?? "ether";
  }

  function linkOf(netdev: Netdev): Link {
    const { index, name, altNames, mac, mtu, maxMtu, adminUp, promiscuous, physPortName, physSwitchId } = netdev;
    const { kind, masterIndex, lowerIndex, xdpProgram } = netdev;
    const pf = netdev.representorOf === undefined ? pfOf(netdev) : undefined;
    return {
      index,
      name,
      altNames: [...altNames],
      mac,
      mtu,
      maxMtu,
      adminUp,
      promiscuous,
      type: typeOf(netdev),
      hasXdp: xdpProgram !== undefined,
      ...defined({
        permanentMac: pf?.port.mac,
        parent: deviceOf(netdev),
        kind,
        masterIndex,
        lowerIndex,
        physPortName,
        physSwitchId,
      }),
      vfs: (pf === undefined || !hasVfSettings(pf) ? [] : pf.vfs).map(
        ({ vfId, pfMac = noMac, settings, guid = noGuid }) =>
          pf?.port.linkType === "infiniband"
            ? { vfId, mac: noMac, ...settings, guid }
            : { vfId, mac: pfMac, ...settings },
      ),
    };
  }

  function hasVfSettings(pf: PfFunction): boolean {
    return !isVirtio(pf) && quirks.of(pf.pciAddress).hasNoVfMacs !== true;
  }

  /** Removes the interface of the VF, which its driver creates again, with the assigned address. */
  function resetVf(vf: VfFunction, resetMs: number): void {
    const { incarnation } = vf;
    if (netdevs.visibleOf(vf.pciAddress).length === 0) return; // in a pod, which this model leaves alone
    netdevs.removeOf(vf.pciAddress);
    clock.later(resetMs, () => {
      if (vf.incarnation === incarnation) addNetdev(vf, deps);
    });
  }

  function findForEthtool(name: string): Netdev {
    try {
      return netdevs.find(name);
    } catch {
      throw new Refusal("ENODEV", "no device matches name");
    }
  }

  /** Drivers with an eswitch offload rules of tc. */
  function isChangeable(netdev: Netdev, feature: string): boolean {
    return feature === "hw-tc-offload" && pfOf(netdev)?.port.eswitchMode !== undefined;
  }

  return {
    listLinks: () => answer(() => [loopback, ...netdevs.listVisible().map(linkOf)]),
    readSpeedMbps: (name) =>
      answer(() => {
        const netdev = netdevs.find(name);
        const fn = netdev.parent && bus.find(netdev.parent);
        const pf = fn?.kind === "vf" ? fn.pf : fn;
        return netdev.adminUp && pf !== undefined && hasCarrier(pf) ? pf.port.speedMbps : undefined;
      }),
    setMtu: (name, mtu) =>
      answer(() => {
        const netdev = netdevs.find(name);
        if (mtu < minMtu) throw new Refusal("EINVAL", "mtu less than device minimum");
        if (mtu > netdev.maxMtu) throw new Refusal("EINVAL", "mtu greater than device maximum");
        if (mtu === netdev.mtu) return;
        refuseMtu(netdev);
        netdevs.change(netdev, (changed) => {
          changed.mtu = mtu;
        });
        const pf = netdev.representorOf === undefined ? pfOf(netdev) : undefined;
        if (pf?.port.sriov !== undefined && pf.port.sriov.carrierLossMs > 0) onReset(pf);
      }),
    setAdminUp: (name, up) =>
      answer(() => {
        const netdev = netdevs.find(name);
        if (up === netdev.adminUp) return;
        const pf = pfOf(netdev);
        const { refusesLinkUp } = pf === undefined ? {} : quirks.of(pf.pciAddress);
        if (up && refusesLinkUp !== undefined) throw new Refusal(refusesLinkUp.code);
        netdevs.change(netdev, (changed) => {
          changed.adminUp = up;
        });
      }),
    readFeature: (name, feature) =>
      answer(() => {
        const netdev = findForEthtool(name);
        return { on: netdev.features.has(feature), changeable: isChangeable(netdev, feature) };
      }),
    setFeature: (name, feature, on) =>
      answer(() => {
        const netdev = findForEthtool(name);
        if (netdev.features.has(feature) === on) return;
        if (!isChangeable(netdev, feature)) throw new Refusal("EOPNOTSUPP", "the driver did not change it");
        netdevs.change(netdev, ({ features }) => {
          if (on) features.add(feature);
          else features.delete(feature);
        });
      }),
    setVfMac: (pfName, vfId, mac) =>
      answer(() => {
        const netdev = netdevs.find(pfName);
        const pf = pfOf(netdev);
        if (pf?.port.sriov === undefined || pf.port.linkType === "infiniband" || !hasVfSettings(pf))
          throw new Refusal("EOPNOTSUPP");
        const vf = pf.vfs[vfId];
        const isMulticast = (Number.parseInt(mac.slice(0, 2), 16) & 1) === 1;
        if (vf === undefined || isMulticast) throw new Refusal("EINVAL");
        if (quirks.isBusy(pf.pciAddress, "busyVfMacs")) throw new Refusal("EAGAIN");
        const { refusesVfMacs } = quirks.of(pf.pciAddress);
        if (refusesVfMacs !== undefined) throw new Refusal(refusesVfMacs.code);
        netdevs.change(netdev, () => {
          vf.pfMac = mac;
          vf.isAssigned = mac !== noMac;
        });
        const { vfResetMs } = quirks.of(pf.pciAddress);
        if (vfResetMs !== undefined) resetVf(vf, vfResetMs);
      }),
    setVf: (pfName, vfId, setting) =>
      answer(() => {
        const netdev = netdevs.find(pfName);
        const pf = pfOf(netdev);
        if (pf?.port.sriov === undefined || !hasVfSettings(pf)) throw new Refusal("EOPNOTSUPP");
        const vf = pf.vfs[vfId];
        const hasLink = netdev.adminUp && hasCarrier(pf);
        checkSetting(setting, {
          sriov: pf.port.sriov,
          maxRate: hasLink ? pf.port.speedMbps : 0,
          exists: vf !== undefined,
        });
        netdevs.change(netdev, () => {
          if (vf !== undefined) vf.settings = changedBy(setting, vf.settings);
        });
      }),
  };
}

/** Throws Refusal as igb_main.c (6.12) does; a driver with more settings refuses less. */
function checkSetting(
  setting: VfSetting,
  { sriov, maxRate, exists }: { readonly sriov: FakeSriov; readonly maxRate: number; readonly exists: boolean },
): void {
  const lacks = new Set(sriov.lacks);
  if ("linkState" in setting && lacks.has("linkState")) throw new Refusal("EOPNOTSUPP");
  if (!exists) throw new Refusal("EINVAL");
  if ("vlan" in setting) {
    const { vlan, qos, protocol } = setting;
    if (vlan > 4_095 || qos > 7) throw new Refusal("EINVAL");
    if (protocol === "802.1ad" && lacks.has("802.1ad")) throw new Refusal("EPROTONOSUPPORT");
  }
  if ("minTxRate" in setting) {
    const { minTxRate, maxTxRate } = setting;
    const isTooFast = maxTxRate > maxRate; // without a link, also 0 is refused
    if (isTooFast || maxRate === 0 || (minTxRate > 0 && lacks.has("minTxRate"))) throw new Refusal("EINVAL");
  }
}

/** Returns the settings after one of them has changed. */
export function changedBy(setting: VfSetting, before: VfSettings): VfSettings {
  if (!("vlan" in setting)) return { ...before, ...setting };
  const { vlan, qos: vlanQos, protocol: vlanProtocol } = setting;
  return { ...before, vlan, vlanQos, vlanProtocol };
}

const loopback: Link = {
  index: 1,
  name: "lo",
  altNames: [],
  mac: noMac,
  mtu: 65_536,
  adminUp: true,
  promiscuous: false,
  type: "other",
  hasXdp: false,
  vfs: [],
};

/** Implements the GUIDs that a PF assigns to its InfiniBand VFs (do_setvfinfo in rtnetlink.c, 6.12). */
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
