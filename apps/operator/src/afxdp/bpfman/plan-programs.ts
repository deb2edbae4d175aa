// SPDX-License-Identifier: Apache-2.0
/**
 * planPrograms decides about the programs that bpfman loads on one node: which objects to create, update and delete, and the
 * rows of status.programs. Pure.
 *
 * A pod must not lose its program, and only the device plugin knows which devices pods have. So an object is deleted only
 * after the row of its device has said `release`, and the plugin has confirmed the ID of the program. `release` is never
 * taken back for a program: its confirmation may be under way. A program that bpfman has not loaded cannot be in use.
 */
import type { AfxdpBpfmanStatus, AfxdpLoadedProgram } from "@switchyard/api";
import { cutText, equalJson } from "@switchyard/kube";
import type { BpfmanDevice, BpfmanKind } from "@switchyard/render";
import type { CachedBpfmanObject } from "./bpfman-caches.ts";
import { deletionError, type ProgramState } from "./program-state.ts";

export interface ProgramsInput {
  /** Devices that are to have a program. */
  readonly wanted: readonly BpfmanDevice[];
  /** Whether the device, which is not in `wanted`, keeps its program nevertheless. */
  readonly isKept: (device: string) => boolean;
  /** Kind of new objects; undefined while bpfman is not installed. */
  readonly kind: BpfmanKind | undefined;
  readonly nameOf: (device: string) => string;
  /** The operator's objects for the node, of all kinds. */
  readonly own: readonly CachedBpfmanObject[];
  /** Whether an object of this kind and name exists that is not in `own`. */
  readonly isForeign: (kind: BpfmanKind, name: string) => boolean;
  /** The source of a new object for the device (sourceOf). */
  readonly sourceOf: (device: BpfmanDevice) => unknown;
  readonly stateOf: (object: CachedBpfmanObject, interfaceName: string) => ProgramState;
  /** The last rows. */
  readonly rows: readonly AfxdpLoadedProgram[];
  readonly report: AfxdpBpfmanStatus;
  /** Whether the program can be removed although the plugin has not confirmed it, because no plugin runs on the node. */
  readonly isReleasedAnyway: (device: string) => boolean;
  readonly nowMs: number;
}

export interface ProgramsPlan {
  /** Sorted by device. */
  readonly rows: readonly AfxdpLoadedProgram[];
  /** Objects to create, or to bring up to date. */
  readonly apply: readonly { readonly device: string; readonly interfaceName: string; readonly isNew: boolean }[];
  readonly remove: readonly CachedBpfmanObject[];
  /** Time after which to look again, in ms. */
  readonly againMs: number | undefined;
}

const maxErrorBytes = 1_000;

export function planPrograms(input: ProgramsInput): ProgramsPlan {
  const wanted = new Map(input.wanted.map((one) => [one.device, one]));
  const devices = [...new Set([...wanted.keys(), ...input.own.map(({ device }) => device)])].sort();
  const parts = devices.map((device) => planDevice(device, wanted.get(device), input));
  const waits = parts.flatMap(({ againMs }) => againMs ?? []);
  return {
    rows: parts.flatMap(({ row }) => row ?? []).map(withShortError),
    apply: parts.flatMap(({ apply }) => apply ?? []),
    remove: parts.flatMap(({ remove }) => remove ?? []),
    againMs: waits.length === 0 ? undefined : Math.min(...waits),
  };
}

interface DevicePlan {
  readonly row?: AfxdpLoadedProgram;
  readonly apply?: ProgramsPlan["apply"][number];
  readonly remove?: readonly CachedBpfmanObject[];
  readonly againMs?: number;
}

function planDevice(device: string, wanted: BpfmanDevice | undefined, input: ProgramsInput): DevicePlan {
  const own = input.own.filter((object) => object.device === device);
  const row = input.rows.find((one) => one.device === device);
  const objectName = input.nameOf(device);
  const current = own.find(({ kind, metadata }) => kind === input.kind && metadata.name === objectName);
  if (wanted === undefined && row?.release !== true && input.isKept(device)) return row === undefined ? {} : { row };

  const isObsolete =
    wanted === undefined ||
    row?.release === true ||
    current?.metadata.deletionTimestamp !== undefined ||
    (current !== undefined && !equalJson(current.source, input.sourceOf(wanted)));
  const obsolete = own.filter((object) => object !== current || isObsolete);
  const [first] = obsolete;
  if (first !== undefined) return planRemoval(obsolete, first, row, input);
  if (wanted === undefined || input.kind === undefined) return {};

  const interfaceName = wanted.interfaceName ?? current?.interfaces[0];
  if (interfaceName === undefined) return {}; // in a pod, with a program that bpfman has not loaded
  const pending = { device, interfaceName, objectName };
  if (current === undefined) {
    if (input.isForeign(input.kind, objectName)) {
      const error = `${input.kind} ${objectName} exists, but the operator did not create it; delete it, or give it another name`;
      return { row: { ...pending, error } };
    }
    if (input.report.readyDevices?.includes(device) !== true) return { row: pending };
    return { row: pending, apply: { device, interfaceName, isNew: true } };
  }
  const apply = { device, interfaceName, isNew: false };
  const state = input.stateOf(current, interfaceName);
  if (state.kind === "loaded") return { row: { ...pending, programID: state.programID }, apply };
  if (state.kind === "failed") return { row: { ...pending, error: state.error }, apply };
  return { row: pending, apply, againMs: state.forMs };
}

function planRemoval(
  obsolete: readonly CachedBpfmanObject[],
  first: CachedBpfmanObject,
  row: AfxdpLoadedProgram | undefined,
  { report, stateOf, isReleasedAnyway, nowMs }: ProgramsInput,
): DevicePlan {
  const { device } = first;
  const interfaceName = row?.interfaceName ?? first.interfaces[0] ?? "";
  // Without a row, the plugin may know the ID from a node state that was deleted.
  const state = stateOf(first, interfaceName);
  const programID = row?.programID ?? (state.kind === "loaded" ? state.programID : undefined);
  const isReleased =
    programID === undefined || report.releasedPrograms?.includes(programID) === true || isReleasedAnyway(device);
  const next: AfxdpLoadedProgram = {
    device,
    interfaceName,
    objectName: first.metadata.name,
    ...(programID !== undefined && { programID }),
    release: true,
  };
  const leaving = obsolete.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const error = leaving.flatMap((object) => deletionError(object, nowMs) ?? [])[0];
  return {
    row: { ...next, ...(error !== undefined && { error }) },
    // Only after a row has said it: the plugin could not have confirmed it before.
    remove: isReleased && (row?.release === true || programID === undefined) ? obsolete : [],
    ...(leaving.length > 0 && error === undefined && { againMs: deletionCheckMs }),
  };
}

const deletionCheckMs = 10_000;

function withShortError(row: AfxdpLoadedProgram): AfxdpLoadedProgram {
  return row.error === undefined ? row : { ...row, error: cutText(row.error, maxErrorBytes) };
}
