// SPDX-License-Identifier: Apache-2.0
/** Properties of planAfxdp. A model of the host, which is as strict as devlink, executes the steps on a status. */
import assert from "node:assert/strict";
import { describe, expect, it } from "@jest/globals";
import {
  defined,
  type AfxdpInterfaceSpec,
  type AfxdpInterfaceStatus,
  type AfxdpNetworkNodeStateSpec,
  type AfxdpSubfunctionStatus,
} from "@switchyard/api";
import fc from "fast-check";
import type { AfxdpStep } from "./afxdp-step.ts";
import { deviceIdOf } from "./device-use.ts";
import { planAfxdp } from "./plan-afxdp.ts";

const ids = ["0000:86:00.0", "0000:86:00.1", "0000:87:00.0"];
const mtu = fc.constantFrom(1500, 9000);
const queues = fc.constantFrom(2, 8);
const optional = <Value>(of: fc.Arbitrary<Value>) => fc.option(of, { nil: undefined });

/** The address that is recorded for each subfunction. */
const chosen = "02:00:00:00:00:01";
const subfunction = fc
  .record({
    sfNumber: fc.nat(7),
    state: fc.constantFrom("active", "inactive"),
    hasDriver: fc.boolean(),
    isInPod: fc.boolean(),
    mtu,
    queues,
    owned: fc.boolean(),
    mac: fc.option(fc.constantFrom("00:00:00:00:00:00", chosen), { nil: undefined }),
    isMacRecorded: fc.boolean(),
    held: optional(fc.boolean()),
    representor: optional(fc.record({ linkAdminState: fc.constantFrom("up", "down"), mtu })),
  })
  .map(({ hasDriver, isInPod, sfNumber, state, owned, mac, isMacRecorded, ...more }): AfxdpSubfunctionStatus => {
    const { representor: own, ...settings } = defined(more);
    const representor = own && { name: `rep${sfNumber}`, ...own };
    const assignedMac = owned && isMacRecorded ? chosen : undefined;
    const one = { sfNumber, state, owned, ...defined({ mac, assignedMac, representor }) };
    if (state === "inactive" || !hasDriver) return one;
    return { ...one, ...settings, driver: "mlx5_core.sf", ...(!isInPod && { name: `sf${sfNumber}` }) };
  });

const device = fc
  .record({
    subfunctions: fc.uniqueArray(subfunction, { selector: ({ sfNumber }) => sfNumber, maxLength: 5 }),
    linkAdminState: fc.constantFrom("up", "down"),
    mtu,
    queues,
    owned: fc.boolean(),
    externallyManaged: fc.boolean(),
    initialMtu: optional(mtu),
    initialQueues: optional(queues),
    initialESwitchMode: optional(fc.constant("legacy")),
    maxSfs: optional(fc.constantFrom(0, 4, 8)),
    usedBy: fc.constantFrom<readonly string[]>([], [], [], ["default route"]),
  })
  .map(({ owned, ...one }): Omit<AfxdpInterfaceStatus, "pciAddress"> => {
    // The legacy mode has no subfunctions, and a device without record has none of ours.
    const subfunctions = one.subfunctions.map((each) => ({ ...each, owned: owned && each.owned === true }));
    const eSwitchMode = subfunctions.length > 0 ? "switchdev" : "legacy";
    return { ...defined(one), driver: "mlx5_core", name: "ens1", owned, subfunctions, eSwitchMode };
  });

const nic: fc.Arbitrary<readonly AfxdpInterfaceStatus[]> = fc
  .tuple(device, device, device)
  .map((devices) => devices.map((each, at) => ({ ...each, pciAddress: ids[at] ?? "" })));

const entry = fc
  .record({
    mode: fc.constantFrom("primary" as const, "subfunction" as const),
    numSfs: fc.nat(6),
    mtu: optional(mtu),
    queues: optional(queues),
    bridge: optional(fc.constantFrom("br-0000_01_00.0", "br-0000_01_00.1")),
    externallyManaged: fc.boolean(),
  })
  .map(({ mtu, queues, bridge, ...one }): AfxdpInterfaceSpec => {
    return { poolName: "fast", ...one, ...defined({ mtu, queues, bridge }) };
  });

const spec: fc.Arbitrary<AfxdpNetworkNodeStateSpec> = fc
  .record({ entries: fc.tuple(optional(entry), optional(entry), optional(entry)), unselected: fc.subarray(ids) })
  .map(({ entries, unselected }) => ({
    interfaces: entries.flatMap((one, at) => (one === undefined ? [] : [{ ...one, pciAddress: ids[at] ?? "" }])),
    unselected,
  }));

/** Executes a step. Throws for what devlink refuses. */
function apply(step: AfxdpStep, devices: readonly AfxdpInterfaceStatus[]): readonly AfxdpInterfaceStatus[] {
  return devices.map((one) => (deviceIdOf(one) === step.device ? applyTo(step, one) : one));
}

function applyTo(step: AfxdpStep, one: AfxdpInterfaceStatus): AfxdpInterfaceStatus {
  const { subfunctions = [] } = one;
  const change = (sfNumber: number, by: (sf: AfxdpSubfunctionStatus) => AfxdpSubfunctionStatus | undefined) => {
    assert(subfunctions.some((sf) => sf.sfNumber === sfNumber));
    return { ...one, subfunctions: subfunctions.flatMap((sf) => (sf.sfNumber === sfNumber ? (by(sf) ?? []) : [sf])) };
  };
  switch (step.kind) {
    case "set-eswitch-mode":
      assert.equal(one.eSwitchMode, step.from);
      return { ...one, eSwitchMode: step.to, subfunctions: step.to === "legacy" ? [] : subfunctions };
    case "set-link-up":
      return { ...one, linkAdminState: "up" };
    case "set-mtu":
      return step.sfNumber === undefined
        ? { ...one, mtu: step.to }
        : change(step.sfNumber, (sf) => ({ ...sf, mtu: step.to }));
    case "set-queues":
      return step.sfNumber === undefined
        ? { ...one, queues: step.to }
        : change(step.sfNumber, (sf) => ({ ...sf, queues: step.to }));
    case "create-subfunction":
      assert(one.eSwitchMode === "switchdev" && !subfunctions.some(({ sfNumber }) => sfNumber === step.sfNumber));
      return { ...one, subfunctions: [...subfunctions, madeBy(step)] };
    case "set-subfunction-mac":
      return change(step.sfNumber, (sf) => {
        assert.equal(sf.state, "inactive");
        return { ...sf, mac: chosen };
      });
    case "activate-subfunction":
      return change(step.sfNumber, (sf) => {
        assert(sf.state === "inactive" || (sf.held === false && sf.name === undefined));
        return { ...sf, state: "active", driver: "mlx5_core.sf", name: "sf", mtu: 1500, queues: 8 };
      });
    case "set-representor":
      return change(step.sfNumber, ({ representor, ...sf }) => {
        if (representor === undefined) return sf;
        return { ...sf, representor: { ...representor, linkAdminState: "up", ...defined({ mtu: step.mtu }) } };
      });
    case "connect-representor":
      return change(step.sfNumber, ({ representor, ...sf }) => {
        return representor === undefined ? sf : { ...sf, representor: { ...representor, master: step.bridge } };
      });
    case "deactivate-subfunction":
      return change(step.sfNumber, ({ sfNumber, owned = false, mac, assignedMac, representor }) => {
        return { sfNumber, owned, state: "inactive", ...defined({ mac, assignedMac, representor }) };
      });
    case "delete-subfunction":
      return change(step.sfNumber, (sf) => {
        assert.equal(sf.state, "inactive");
        return undefined;
      });
    case "release-device":
      return { ...one, owned: false };
  }
}

function madeBy({ sfNumber }: AfxdpStep<"create-subfunction">): AfxdpSubfunctionStatus {
  return { sfNumber, state: "inactive", owned: true, mac: "00:00:00:00:00:00", assignedMac: chosen };
}

const foreignOf = ({ subfunctions = [] }: AfxdpInterfaceStatus) => subfunctions.filter(({ owned }) => owned !== true);

describe("planAfxdp", () => {
  it("has no steps left after its steps, and the same problems", () => {
    const settles = fc.property(spec, nic, (desired, interfaces) => {
      const { steps, problems } = planAfxdp(desired, { interfaces });
      const after = steps.reduce((devices, step) => apply(step, devices), interfaces);
      const again = planAfxdp(desired, { interfaces: after });
      expect(again).toMatchObject({ steps: [], impact: "none", problems });
    });
    fc.assert(settles);
  });

  it("continues from wherever its steps were interrupted", () => {
    const settles = fc.property(spec, nic, fc.nat(20), (desired, interfaces, until) => {
      const first = planAfxdp(desired, { interfaces }).steps.slice(0, until);
      const between = first.reduce((devices, step) => apply(step, devices), interfaces);
      const rest = planAfxdp(desired, { interfaces: between }).steps;
      const after = rest.reduce((devices, step) => apply(step, devices), between);
      expect(planAfxdp(desired, { interfaces: after }).steps).toEqual([]);
    });
    fc.assert(settles);
  });

  it("never changes the subfunctions of other programs, nor devices that are neither selected nor owned", () => {
    const spares = fc.property(spec, nic, (desired, interfaces) => {
      const { steps } = planAfxdp(desired, { interfaces });
      const after = steps.reduce((devices, step) => apply(step, devices), interfaces);
      expect(after.map(foreignOf)).toEqual(interfaces.map(foreignOf));
      const touched = new Set(steps.map((step) => step.device));
      for (const one of interfaces) {
        const id = deviceIdOf(one);
        const isSelected = (desired.interfaces ?? []).some((each) => each.pciAddress === id);
        const isReset = desired.unselected?.includes(id) === true && one.owned === true;
        if (touched.has(id)) expect({ id, isWanted: isSelected || isReset }).toEqual({ id, isWanted: true });
        if (touched.has(id)) expect(one.usedBy ?? []).toEqual([]);
      }
    });
    fc.assert(spares);
  });

  it("resets nothing that is only missing: an empty spec has no steps", () => {
    const unknown = fc.property(nic, (interfaces) => {
      expect(planAfxdp({}, { interfaces })).toEqual({ steps: [], impact: "none", reasons: [], problems: [] });
    });
    fc.assert(unknown);
  });

  it("gives each subfunction of the spec its address, unless a pod has the subfunction or the address is unknown", () => {
    const repairs = fc.property(spec, nic, (desired, interfaces) => {
      const { steps } = planAfxdp(desired, { interfaces });
      const after = steps.reduce((devices, step) => apply(step, devices), interfaces);
      for (const one of after) {
        const isConfigured = steps.some(({ device, kind }) => device === deviceIdOf(one) && kind !== "release-device");
        if (!isConfigured) continue;
        for (const part of one.subfunctions ?? []) {
          const { name, driver, owned, mac = chosen, assignedMac = mac } = part;
          const { held = driver !== undefined && name === undefined } = part;
          if (owned === true && !held) expect(mac).toBe(assignedMac);
        }
      }
    });
    fc.assert(repairs);
  });

  it("needs a drain exactly if a step changes or removes something that a pod has", () => {
    const warns = fc.property(spec, nic, (desired, interfaces) => {
      const { steps, impact } = planAfxdp(desired, { interfaces });
      const takesAway = steps.some((step) => {
        const one = interfaces.find((each) => deviceIdOf(each) === step.device);
        const parts = one?.subfunctions ?? [];
        const held = parts.filter(({ driver, name, held = driver !== undefined && name === undefined }) => held);
        // Not changes of the subfunction itself.
        if (step.kind === "set-representor" || step.kind === "activate-subfunction") return false;
        if (step.kind === "set-eswitch-mode") return held.length > 0;
        return "sfNumber" in step && held.some(({ sfNumber }) => sfNumber === step.sfNumber);
      });
      expect(impact).toBe(takesAway ? "drain" : "none");
    });
    fc.assert(warns);
  });
});
