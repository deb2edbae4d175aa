// SPDX-License-Identifier: Apache-2.0
/**
 * Plans how a node reaches the spec of its AfxdpNetworkNodeState: the steps, the pods that they disrupt, and the parts of the
 * spec that cannot be applied. It is a pure function of the spec and the status, as plan.ts is for SR-IOV.
 * Usage: `const { steps, impact } = planAfxdp(state.spec ?? {}, state.status ?? {}, sriovUse({ spec, pfs }));`
 */
import type { AfxdpInterfaceSpec, AfxdpInterfaceStatus, AfxdpNetworkNodeState } from "@switchyard/api";
import type { SriovUse } from "@switchyard/policy";
import type { Reason } from "../impact.ts";
import { parseEswitchMode } from "../pf/plan-eswitch.ts";
import type { PlanProblem } from "../problem.ts";
import { describeRefusal, withoutRefused } from "../refused-change.ts";
import { externalProblems, limitProblems, usedDeviceProblem } from "./afxdp-problems.ts";
import { describeAfxdpStep, type AfxdpStep } from "./afxdp-step.ts";
import { afxdpDisruptionOf, afxdpDrainReasons, deviceIdOf, isAway } from "./device-use.ts";
import { interfaceSettings, planSubfunctions } from "./plan-subfunctions.ts";

export interface AfxdpPlan {
  /** Those of one device in the order in which they must run. Steps of different devices do not depend on each other. */
  readonly steps: readonly AfxdpStep[];
  readonly impact: "none" | "drain";
  /** Why the impact is not "none": one sentence for each cause. */
  readonly reasons: readonly Reason[];
  /** Parts of the spec that cannot be applied. The steps apply all other parts. */
  readonly problems: readonly PlanProblem[];
}

type Spec = NonNullable<AfxdpNetworkNodeState["spec"]>;
type Status = NonNullable<AfxdpNetworkNodeState["status"]>;

/**
 * Compares `desired` with `observed`. A device that is not in desired.interfaces is reset only if it is owned and
 * desired.unselected names it. A device that the host or SR-IOV policies use is not changed, except that a device of SR-IOV
 * policies is reset. `useOf` returns how SR-IOV policies use a device.
 */
export function planAfxdp(desired: Spec, observed: Status, useOf: SriovUse = () => undefined): AfxdpPlan {
  const found = new Map((observed.interfaces ?? []).map((device) => [deviceIdOf(device), device]));
  const wanted = new Map((desired.interfaces ?? []).map((spec, index) => [deviceIdOf(spec), { spec, index }]));
  const plans = [...wanted].map(([id, { spec, index }]): DevicePlan => {
    const field = `spec.interfaces[${index}]`;
    const device = found.get(id);
    if (id === "" || device === undefined) return { steps: [], reasons: [], problems: [unknownDevice(spec, field)] };
    return planDevice(spec, device, { field, sriovUse: useOf(id) });
  });
  for (const [index, id] of (desired.unselected ?? []).entries()) {
    const device = found.get(id);
    if (device?.owned === true && !wanted.has(id)) plans.push(planUnselected(device, `spec.unselected[${index}]`));
  }
  const reasons = plans.flatMap((each) => each.reasons);
  return {
    steps: plans.flatMap((each) => each.steps),
    impact: reasons.length > 0 ? "drain" : "none",
    reasons,
    problems: plans.flatMap((each) => each.problems),
  };
}

interface DevicePlan {
  readonly steps: readonly AfxdpStep[];
  readonly reasons: readonly Reason[];
  readonly problems: readonly PlanProblem[];
}

interface DeviceContext {
  readonly field: string;
  readonly sriovUse: string | undefined;
}

function planDevice(
  spec: AfxdpInterfaceSpec,
  device: AfxdpInterfaceStatus,
  { field, sriovUse }: DeviceContext,
): DevicePlan {
  const isExternal = spec.externallyManaged === true;
  const hostUse = isExternal && spec.mode === "subfunction" ? undefined : hostUseOf(device);
  const use = sriovUse ?? hostUse;
  if (use !== undefined) return { steps: [], reasons: [], problems: [usedDeviceProblem(device, field, use)] };
  if (isExternal) return { steps: [], reasons: [], problems: externalProblems(spec, device, field) };
  const problems = limitProblems(spec, device, field);
  const refused = new Set(problems.map(({ code }) => code));
  const steps =
    spec.mode === "primary"
      ? primarySteps(spec, device, refused)
      : refused.has("too-many-subfunctions")
        ? withoutSubfunctions(device)
        : subfunctionSteps(spec, device, refused);
  const fieldOf = (step: AfxdpStep): string => `${field}.${causeOf(step)}`;
  return withoutRefusedSteps(device, { steps, reasons: afxdpDrainReasons(steps, device, fieldOf), problems });
}

function primarySteps(
  { mtu, queues }: AfxdpInterfaceSpec,
  device: AfxdpInterfaceStatus,
  refused: ReadonlySet<PlanProblem["code"]>,
): readonly AfxdpStep[] {
  const id = deviceIdOf(device);
  const wanted = {
    mtu: refused.has("mtu-too-large") ? undefined : mtu,
    queues: refused.has("too-many-queues") ? undefined : queues,
  };
  return [
    // The policy had another mode before.
    ...planSubfunctions(id, device, { numSfs: 0 }),
    ...interfaceSettings({ device: id }, device, wanted),
    ...linkUp(device),
  ];
}

function subfunctionSteps(
  { mtu: wanted, ...spec }: AfxdpInterfaceSpec,
  device: AfxdpInterfaceStatus,
  refused: ReadonlySet<PlanProblem["code"]>,
): readonly AfxdpStep[] {
  const id = deviceIdOf(device);
  const mtu = refused.has("mtu-too-large") ? undefined : wanted;
  const steps = planSubfunctions(id, device, { ...spec, ...(mtu !== undefined && { mtu }) });
  // The port drops longer packets of its subfunctions. It is not lowered: the host can have chosen the higher value.
  const own = (device.subfunctions ?? []).filter(({ owned }) => owned === true);
  const portMtu = Math.max(...(mtu === undefined ? own.map((one) => one.mtu ?? 0) : [mtu]), 0);
  const isPortLow = device.mtu !== undefined && device.mtu < portMtu;
  const creates = steps.some(({ kind }) => kind === "create-subfunction");
  const needsSwitchdev = creates && device.eSwitchMode === "legacy";
  return [
    ...(needsSwitchdev ? [{ kind: "set-eswitch-mode", device: id, from: "legacy", to: "switchdev" } as const] : []),
    ...linkUp(device),
    ...(isPortLow ? interfaceSettings({ device: id }, device, { mtu: portMtu, queues: undefined }) : []),
    ...steps,
  ];
}

/** A device that turned out to support none has the mode that it had before. */
function withoutSubfunctions(device: AfxdpInterfaceStatus): readonly AfxdpStep[] {
  const { owned, maxSfs, subfunctions = [] } = device;
  return owned === true && maxSfs === 0 && subfunctions.length === 0 ? eswitchSteps(device) : [];
}

function linkUp(device: AfxdpInterfaceStatus): readonly AfxdpStep[] {
  return device.linkAdminState === "down" ? [{ kind: "set-link-up", device: deviceIdOf(device) }] : [];
}

function planUnselected(device: AfxdpInterfaceStatus, field: string): DevicePlan {
  const use = isAway(device) ? undefined : hostUseOf(device);
  if (use !== undefined) return { steps: [], reasons: [], problems: [usedDeviceProblem(device, field, use)] };
  const steps = planDeviceReset(device);
  const reasons = afxdpDrainReasons(steps, device, () => "spec.unselected");
  return withoutRefusedSteps(device, { steps, reasons, problems: [] });
}

function withoutRefusedSteps(device: AfxdpInterfaceStatus, planned: DevicePlan): DevicePlan {
  const { refused } = device;
  const [reason] = planned.reasons;
  const isDisruptive = (step: AfxdpStep): boolean => afxdpDisruptionOf(step, device) !== undefined;
  const steps = withoutRefused(planned.steps, refused, { describe: describeAfxdpStep, isDisruptive });
  if (steps === undefined || refused === undefined || reason === undefined) return planned;
  const { text: _text, ...at } = reason;
  const message = describeRefusal(refused, "the device stays as it is until its spec or its driver changes");
  return { steps, reasons: [], problems: [...planned.problems, { ...at, code: "refused", message }] };
}

function hostUseOf({ usedBy = [] }: AfxdpInterfaceStatus): string | undefined {
  return usedBy.length === 0 ? undefined : `the host uses it: ${usedBy.join(", ")}`;
}

/** The field of the entry that causes a step. */
function causeOf({ kind }: AfxdpStep): string {
  if (kind === "set-mtu") return "mtu";
  return kind === "set-queues" ? "queues" : "numSfs";
}

function unknownDevice(spec: AfxdpInterfaceSpec, field: string): PlanProblem {
  const { pciAddress, name } = spec;
  const text = pciAddress ? `${pciAddress}${name ? ` (${name})` : ""}` : (name ?? "a device without address and name");
  return {
    code: "unknown-device",
    field: `${field}.${pciAddress ? "pciAddress" : "name"}`,
    ...(pciAddress && { pciAddress }),
    message: `${text} is not a network device of this node`,
  };
}

/**
 * Plans the reset of an owned device that no policy selects any longer.
 * Deletes the subfunctions that Switchyard created, restores the settings of the device, and releases it. An externally
 * managed device is only released. The mode of the embedded switch stays while other programs have subfunctions, because
 * every change of it removes them.
 */
function planDeviceReset(device: AfxdpInterfaceStatus): readonly AfxdpStep[] {
  const id = deviceIdOf(device);
  const release = { kind: "release-device", device: id } as const;
  if (device.externallyManaged === true) return [release];
  const { initialMtu: mtu, initialQueues: queues } = device;
  return [
    ...planSubfunctions(id, device, { numSfs: 0 }),
    ...eswitchSteps(device),
    ...interfaceSettings({ device: id }, device, { mtu, queues }),
    release,
  ];
}

function eswitchSteps(device: AfxdpInterfaceStatus): readonly AfxdpStep[] {
  const { eSwitchMode, initialESwitchMode, subfunctions = [] } = device;
  if (eSwitchMode === undefined || initialESwitchMode === undefined) return []; // not known
  const [from, to] = [parseEswitchMode(eSwitchMode), parseEswitchMode(initialESwitchMode)];
  if (from === undefined || to === undefined || from === to) return [];
  if (subfunctions.some(({ owned }) => owned !== true)) return [];
  return [{ kind: "set-eswitch-mode", device: deviceIdOf(device), from, to }];
}
