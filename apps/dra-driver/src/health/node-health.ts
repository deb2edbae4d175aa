// SPDX-License-Identifier: Apache-2.0
/**
 * createNodeHealth judges the PFs of a node and the VFs that claims have, and says it in the words of ResourceSlices (taints) and of the
 * kubelet (health of devices).
 */
import { taints as taintKeys, type DeviceTaint, type ResourceSlice, type SriovNetworkNodeState } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import type { DraDeviceHealth } from "@switchyard/kubelet";
import { addressOfDevice } from "@switchyard/render";
import { createDamping, type Problem } from "./damp.ts";
import { createDevlinkReporters } from "./devlink-reporters.ts";
import { createPcieErrors } from "./pcie-errors.ts";
import { readPfHealth, readVfHealth } from "./read-health.ts";

export interface NodeHealth {
  /** Looks in the kernel. Rejects with HostError. */
  look(state: SriovNetworkNodeState, prepared: ReadonlySet<string>): Promise<Judgement>;
  /** Time until a judgement can change without an event; undefined if none can. */
  nextMs(): number | undefined;
}

export interface Judgement {
  /** By the PCI address of a PF or of a VF that a claim has. */
  readonly problems: ReadonlyMap<string, Problem>;
}

export interface NodeHealthDeps {
  readonly host: Pick<Host, "sriov" | "files" | "devlink">;
  /** A monotonic clock. */
  readonly nowMs: () => number;
}

export function createNodeHealth({ host, nowMs }: NodeHealthDeps): NodeHealth {
  const damping = createDamping();
  const pcieErrors = createPcieErrors({ host, nowMs });
  const reporters = createDevlinkReporters(host);
  return {
    async look({ status }, prepared) {
      const problems = new Map<string, Problem>();
      const judge = (address: string, observed: Problem | undefined): void => {
        const problem = damping.judge(address, observed, nowMs());
        if (problem !== undefined) problems.set(address, problem);
      };
      for (const nic of status?.interfaces ?? []) {
        if ((nic.Vfs ?? []).length === 0) continue;
        const cause = (await reporters.look(nic)) ?? (await readPfHealth(host, nic)) ?? (await pcieErrors.look(nic));
        judge(nic.pciAddress, cause);
      }
      for (const address of prepared) judge(address, await readVfHealth(host, address));
      return { problems };
    },
    nextMs: () => damping.nextMs(nowMs()),
  };
}

/** Returns the taints by the address of the PF, or of the VF. They keep new claims away, and end no pod. */
export function taintsOf({ problems }: Judgement): ReadonlyMap<string, readonly DeviceTaint[]> {
  return new Map(
    [...problems].map(([address, { reason }]) => {
      return [address, [{ key: taintKeys.unhealthy, value: reason, effect: "NoSchedule" }]];
    }),
  );
}

/** The kubelet takes a device for unknown if nothing is reported for so long. */
export const healthTimeoutSeconds = 120;

/** Returns the health of all devices in the slices. */
export function deviceHealth(
  slices: readonly ResourceSlice[],
  { problems }: Judgement,
  { state, nowSeconds }: { readonly state: SriovNetworkNodeState; readonly nowSeconds: number },
): readonly DraDeviceHealth[] {
  const pfOf = new Map(
    (state.status?.interfaces ?? []).flatMap(({ pciAddress, Vfs = [] }) =>
      Vfs.map((vf) => [vf.pciAddress, pciAddress]),
    ),
  );
  return slices.flatMap(({ spec }) =>
    spec.devices.map(({ name }) => {
      const address = addressOfDevice(name) ?? "";
      const problem = problems.get(address) ?? problems.get(pfOf.get(address) ?? "");
      return {
        pool: spec.pool.name,
        device: name,
        health: problem === undefined ? ("healthy" as const) : ("unhealthy" as const),
        atSeconds: nowSeconds,
        timeoutSeconds: healthTimeoutSeconds,
        message: problem?.message ?? "",
      };
    }),
  );
}
