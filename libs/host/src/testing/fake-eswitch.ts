// SPDX-License-Identifier: Apache-2.0
/**
 * Implements Devlink on the fake kernel: the modes of embedded switches, and the representors that come and go with the mode
 * and the VFs. ice refuses to change the mode while VFs exist (ice_eswitch_mode_set, 6.12). mlx5_core is stricter here than in
 * 6.12: it refuses a change while drivers are bound to VFs, because they would stop working.
 */
import type { PciAddress } from "@switchyard/api";
import type { Devlink, HealthReporter } from "../ports/devices.ts";
import type { PfFunction, VfFunction } from "./fake-functions.ts";
import type { Netdevs } from "./fake-netdevs.ts";
import type { PciBus } from "./fake-pci.ts";
import { representorName } from "./nic-models.ts";
import type { QuirksByPf } from "./driver-quirks.ts";
import { answer, Refusal } from "./faults.ts";

export interface FakeEswitchDeps {
  readonly find: PciBus["find"];
  readonly netdevs: Netdevs;
  readonly nextMac: () => string;
  readonly quirks: QuirksByPf;
  /** Called when the mode of a PF may have changed. */
  readonly onSync: (pf: PfFunction) => void;
}

export interface FakeEswitch {
  readonly port: Devlink;
  /** Adds and removes representors as the present mode and VFs of the PF need it. */
  sync(pf: PfFunction): void;
  /** Makes the driver create no representor for this VF. */
  hideRepresentor(pf: PciAddress, vfId: number): void;
  /** Makes a health reporter of the driver report a state. */
  setHealth(pf: PciAddress, reporter: HealthReporter): void;
}

export function createFakeEswitch({ find, netdevs, nextMac, quirks, onSync }: FakeEswitchDeps): FakeEswitch {
  const hidden = new Set<string>();
  const reporters = new Map<PciAddress, Map<string, HealthReporter["state"]>>();
  /** VFs that have a representor. */
  const represented = new Map<PfFunction, Set<VfFunction>>();

  /** Returns the PF if its driver has a devlink instance. */
  function instance(pf: PciAddress): PfFunction | undefined {
    const fn = find(pf);
    return fn?.kind === "pf" && fn.driver === fn.nativeDriver && fn.port.eswitchMode !== undefined ? fn : undefined;
  }

  const knowsMode = (pf: PfFunction): boolean => pf.port.modeNeedsVfs !== true || pf.vfs.length > 0;

  function sync(pf: PfFunction): void {
    onSync(pf);
    const present = represented.get(pf) ?? new Set<VfFunction>();
    represented.set(pf, present);
    const wanted = new Set(pf.eswitchMode === "switchdev" ? pf.vfs : []);
    for (const vf of [...present].filter((one) => !wanted.has(one))) {
      netdevs.removeRepresentor(vf.pciAddress);
      present.delete(vf);
    }
    for (const vf of wanted) {
      if (present.has(vf) || hidden.has(`${pf.pciAddress} ${vf.vfId}`)) continue;
      present.add(vf);
      netdevs.add({
        parent: pf.pciAddress,
        mac: nextMac(),
        maxMtu: pf.port.maxMtu,
        representorOf: vf.pciAddress,
        physPortName: representorName(pf.port, `vf${vf.vfId}`),
        physSwitchId: pf.port.physSwitchId ?? "",
      });
    }
  }

  return {
    sync,
    hideRepresentor: (pf, vfId) => void hidden.add(`${pf} ${vfId}`),
    setHealth(pf, { name, state }) {
      reporters.set(pf, (reporters.get(pf) ?? new Map<string, HealthReporter["state"]>()).set(name, state));
    },
    port: {
      readEswitchMode: (address) =>
        answer(() => {
          const pf = instance(address);
          return pf !== undefined && knowsMode(pf) ? pf.eswitchMode : undefined;
        }),
      setEswitchMode: (address, mode) =>
        answer(() => {
          const pf = instance(address);
          if (pf === undefined) throw new Refusal("ENODEV");
          if (!knowsMode(pf)) throw new Refusal("EOPNOTSUPP");
          if (pf.eswitchMode === mode) return;
          const { refusesEswitchMode: refused } = quirks.of(address);
          if (refused !== undefined) throw new Refusal(refused.code, refused.words);
          if (pf.driver === "ice" && pf.vfs.length > 0)
            throw new Refusal("EOPNOTSUPP", "Changing eswitch mode is allowed only if there is no VFs created");
          if (pf.driver === "mlx5_core" && pf.vfs.some(({ driver }) => driver !== undefined))
            throw new Refusal("EBUSY", "VFs are bound to drivers");
          pf.eswitchMode = mode;
          sync(pf);
        }),
      readParameter: (pf, name) => answer(() => instance(pf)?.parameters.get(name)),
      listHealthReporters: (address) =>
        answer(() => {
          const pf = instance(address);
          return [...(pf === undefined ? [] : (reporters.get(pf.pciAddress) ?? []))].map(([name, state]) => ({
            name,
            state,
          }));
        }),
      setParameter: (address, name, value) =>
        answer(() => {
          const pf = instance(address);
          if (pf === undefined) throw new Refusal("ENODEV");
          if (!pf.parameters.has(name)) throw new Refusal("EINVAL");
          if (name === "flow_steering_mode" && pf.eswitchMode === "switchdev")
            throw new Refusal(
              "EOPNOTSUPP",
              "Software managed steering is not supported when eswitch offloads enabled.",
            );
          pf.parameters.set(name, value);
        }),
    },
  };
}
