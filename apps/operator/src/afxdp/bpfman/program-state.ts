// SPDX-License-Identifier: Apache-2.0
/**
 * programState returns what bpfman has done with the program of one device, from what its agent reports (eve-and-afxdp.md
 * b5). Pure.
 */
import type { CachedBpfmanObject, BpfmanReport } from "./bpfman-caches.ts";

export type ProgramState =
  | { readonly kind: "loaded"; readonly programID: number }
  | { readonly kind: "failed"; readonly error: string }
  /** `forMs`: after this time without a change it counts as failed. */
  | { readonly kind: "pending"; readonly forMs: number };

/** Where bpfman attaches a program, and what the node reports there. */
export interface ProgramPlace {
  readonly interfaceName: string;
  /** XDP program on the interface that neither Switchyard nor bpfman has attached. bpfman's own report does not name it. */
  readonly foreignProgram?: string | undefined;
  readonly nowMs: number;
}

/** bpfman's agent reports within a few seconds. */
const silentMs = 30_000;

const agentHint = "check that the daemon of bpfman runs on the node, and its log";

/** `report` is that about this object, by its uid. */
export function programState(
  object: CachedBpfmanObject,
  report: BpfmanReport | undefined,
  { interfaceName, foreignProgram, nowMs }: ProgramPlace,
): ProgramState {
  const { kind, metadata } = object;
  if (report === undefined || report.load === "") {
    const since = metadata.creationTimestamp ?? "";
    const forMs = leftOf(since, nowMs);
    if (forMs > 0) return { kind: "pending", forMs };
    return failed(`bpfman has not reported on ${kind} ${metadata.name} since ${since}; ${agentHint}`);
  }
  const outcome =
    kind === "XdpProgram" ? xdpProgramOutcome(report) : applicationOutcome(report, { interfaceName, foreignProgram });
  if (outcome !== "loaded") return outcome;
  const { programId } = report;
  return programId === undefined
    ? failed(`bpfman reports that the program is loaded, but not its ID`)
    : { kind: "loaded", programID: programId };
}

/** Returns how long an object has been waiting for its deletion, as an error; undefined while that is normal. */
export function deletionError({ kind, metadata }: CachedBpfmanObject, nowMs: number): string | undefined {
  const since = metadata.deletionTimestamp;
  if (since === undefined || leftOf(since, nowMs) > 0) return undefined;
  return `${kind} ${metadata.name} has been waiting since ${since} for bpfman to unload the program; ${agentHint}`;
}

function applicationOutcome(
  { load, links = {}, condition }: BpfmanReport,
  { interfaceName, foreignProgram }: Omit<ProgramPlace, "nowMs">,
): ProgramState | "loaded" {
  const words = condition === undefined ? "" : `: ${condition.message}`;
  if (load === "LoadSuccess") {
    const link = links[interfaceName];
    if (link === "Attached") return "loaded";
    if (condition?.type !== "Error") return { kind: "pending", forMs: silentMs };
    const status = link === undefined ? "" : ` (${link})`;
    const hint =
      foreignProgram === undefined
        ? agentHint
        : `the interface has another XDP program, ${foreignProgram}, which must be removed first`;
    return failed(`bpfman could not attach the program to ${interfaceName}${status}${words}; ${hint}`);
  }
  if (pendingLoads.has(load) && condition?.type !== "Error") return { kind: "pending", forMs: silentMs };
  return failed(`bpfman could not load the program (${load})${words}; ${agentHint}`);
}

const pendingLoads: ReadonlySet<string> = new Set(["NotLoaded", "UnloadSuccess"]);

function xdpProgramOutcome({ load, condition }: BpfmanReport): ProgramState | "loaded" {
  if (load === "Loaded") return "loaded";
  if (load === "None" || load === "Unloaded") return { kind: "pending", forMs: silentMs };
  return failed(`bpfman could not load and attach the program (${load}): ${condition?.message ?? ""}; ${agentHint}`);
}

function failed(error: string): ProgramState {
  return { kind: "failed", error };
}

/** A time that cannot be read, or in the future, counts as now. */
function leftOf(since: string, nowMs: number): number {
  const sinceMs = Date.parse(since);
  return Number.isNaN(sinceMs) ? silentMs : Math.min(silentMs, sinceMs + silentMs - nowMs);
}
