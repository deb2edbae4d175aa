// SPDX-License-Identifier: Apache-2.0
/**
 * Plans the number of VFs and the mode of the embedded switch of one PF, in the order that its driver needs
 * (sriov-operator.md F.6).
 */
import { defined, type InterfaceStatus } from "@switchyard/api";
import type { EswitchMode } from "../steps/eswitch.ts";
import type { PfStep } from "../steps/step.ts";

export interface WantedEswitch {
  readonly numVfs: number;
  /** Absent: the mode does not change. */
  readonly mode: EswitchMode | undefined;
}

/** Returns the mode in a spec or a status, in which an empty text means legacy; undefined if it is none. */
export function parseEswitchMode(text: string | undefined): EswitchMode | undefined {
  const mode = text || "legacy";
  return mode === "legacy" || mode === "switchdev" ? mode : undefined;
}

/** Returns no steps if the PF has the number of VFs and the mode. */
export function eswitchSteps(pf: InterfaceStatus, wanted: WantedEswitch): readonly PfStep[] {
  const from = parseEswitchMode(pf.eSwitchMode) ?? "legacy";
  const to = wanted.mode ?? from;
  const existing = pf.numVfs ?? 0;
  if (from === to && existing === wanted.numVfs) return [];
  const change = { pf, from, to, existing, numVfs: wanted.numVfs };
  const prepare = { kind: "prepare-switchdev", pciAddress: pf.pciAddress } as const;
  return [
    ...(from === "legacy" && to === "switchdev" ? [prepare] : []),
    ...(pf.driver === "ice" ? modeBeforeVfs(change) : vfsBeforeMode(change)),
  ];
}

/** Reports whether the steps leave existing VFs without a driver: VFs that are created in switchdev mode keep theirs. */
export function unbindsVfs(steps: readonly PfStep[]): boolean {
  const last = steps.findLast(({ kind }) => kind === "set-eswitch-mode" || kind === "set-num-vfs");
  return last?.kind === "set-eswitch-mode";
}

interface EswitchChange {
  readonly pf: InterfaceStatus;
  readonly from: EswitchMode;
  readonly to: EswitchMode;
  readonly existing: number;
  readonly numVfs: number;
}

/** ice refuses to change the mode while VFs exist, and creates VFs in either mode. */
function modeBeforeVfs({ pf, from, to, existing, numVfs }: EswitchChange): readonly PfStep[] {
  if (from === to) return count(pf, existing, numVfs);
  return [
    ...count(pf, existing, 0),
    mode(pf, from, to, { restore: existing, now: 0 }),
    ...countFromZero(pf, existing, numVfs),
  ];
}

/**
 * All other drivers create and remove VFs in legacy mode only: mlx5_core in switchdev mode supports it in newer versions only,
 * and binds new VFs before their representors exist. Therefore a change of the number in switchdev mode goes through legacy
 * mode, as upstream's daemon does.
 */
function vfsBeforeMode({ pf, from, to, existing, numVfs }: EswitchChange): readonly PfStep[] {
  if (to === "legacy") {
    if (from === "legacy") return count(pf, existing, numVfs);
    return [mode(pf, from, to, { restore: existing, now: existing }), ...count(pf, existing, numVfs)];
  }
  const leave: readonly PfStep[] =
    from === "legacy" ? [] : [{ ...mode(pf, from, "legacy", { restore: existing, now: existing }), isTemporary: true }];
  const enter = mode(pf, "legacy", to, { restore: from === "legacy" ? existing : numVfs, now: numVfs });
  const { flowSteeringMode } = pf;
  // The driver accepts another flow_steering_mode only in legacy mode and without VFs. The mode of a PF that is in switchdev
  // mode already stays.
  const counts: readonly PfStep[] =
    from === "legacy" && flowSteeringMode !== undefined && flowSteeringMode !== "smfs"
      ? [
          ...count(pf, existing, 0),
          { kind: "set-flow-steering", pciAddress: pf.pciAddress, from: flowSteeringMode, to: "smfs" },
          ...countFromZero(pf, existing, numVfs),
        ]
      : count(pf, existing, numVfs);
  return [...leave, ...counts, from === "legacy" ? enter : { ...enter, isTemporary: true }];
}

function count({ pciAddress }: InterfaceStatus, from: number, to: number): readonly PfStep<"set-num-vfs">[] {
  return from === to ? [] : [{ kind: "set-num-vfs", pciAddress, from, to }];
}

/** The `removed` VFs come back if the driver refuses the number. */
function countFromZero(pf: InterfaceStatus, removed: number, to: number): readonly PfStep<"set-num-vfs">[] {
  return count(pf, 0, to).map((step) => (removed > 0 ? { ...step, restoreNumVfs: removed } : step));
}

/** `vfs.now` is the number of VFs when the step runs, and `vfs.restore` the number that a refusal must leave behind. */
function mode(
  { pciAddress }: InterfaceStatus,
  from: EswitchMode,
  to: EswitchMode,
  vfs: { readonly restore: number; readonly now: number },
): PfStep<"set-eswitch-mode"> {
  const restoreNumVfs = vfs.restore === vfs.now ? undefined : vfs.restore;
  return { kind: "set-eswitch-mode", pciAddress, from, to, ...defined({ restoreNumVfs }) };
}
