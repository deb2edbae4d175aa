// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { apiVersion, type SriovNetworkNodeStateSpec, type SriovNetworkNodeStateStatus } from "@switchyard/api";
import { progressOf, type Progress } from "./node-progress.ts";
import { toCachedNodeState } from "../facts/cached-node-state.ts";
import { nic } from "../testing/cluster.ts";

const spec: SriovNetworkNodeStateSpec = { interfaces: [{ pciAddress: "0000:3b:00.0", mtu: 9000 }] };
const done = { interfaces: [nic({ mtu: 9000 })], syncStatus: "Succeeded" } as const;
const refused = { interfaces: [nic()], syncStatus: "Failed", lastSyncError: "set mtu: EINVAL" } as const;

/** The condition that an attempt left that failed to apply the spec of this generation. */
const degradedAt = (observedGeneration: number) => [
  {
    type: "Degraded",
    status: "True" as const,
    reason: "StepFailed",
    message: "set mtu: EINVAL",
    observedGeneration,
    lastTransitionTime: "2026-08-06T20:24:48Z",
  },
];
const retried = { interfaces: [nic()], syncStatus: "InProgress", conditions: degradedAt(3) } as const;

/** A state of generation 3. */
function stateOf(status: SriovNetworkNodeStateStatus) {
  const metadata = { name: "worker-1", generation: 3 };
  return toCachedNodeState({ apiVersion, kind: "SriovNetworkNodeState", metadata, spec, status });
}

describe("progressOf", () => {
  it.each<{
    what: string;
    status: SriovNetworkNodeStateStatus;
    pciAddresses?: readonly string[];
    wasReady?: boolean;
    kind: Progress["kind"];
  }>([
    { what: "all done", status: { ...done, observedGeneration: 3 }, kind: "ready" },
    { what: "all done, reported by upstream's daemon", status: done, kind: "ready" },
    {
      what: "all done, observed before the spec changed",
      status: { ...done, observedGeneration: 2 },
      kind: "configuring",
    },
    {
      what: "all done, observed before the spec changed, and ready before",
      status: { ...done, observedGeneration: 2 },
      wasReady: true,
      kind: "ready",
    },
    { what: "nothing discovered", status: { observedGeneration: 3 }, wasReady: true, kind: "configuring" },
    { what: "work left", status: { interfaces: [nic()], observedGeneration: 3 }, wasReady: true, kind: "configuring" },
    {
      what: "work left on another PF",
      status: { interfaces: [nic()], observedGeneration: 3 },
      pciAddresses: ["0000:5e:00.0"],
      kind: "ready",
    },
    { what: "a failure", status: { ...refused, observedGeneration: 3 }, kind: "failed" },
    { what: "a retry after a failure", status: { ...retried, observedGeneration: 3 }, kind: "failed" },
    {
      what: "a retry after a failure, on another PF",
      status: { ...retried, observedGeneration: 3 },
      pciAddresses: ["0000:5e:00.0"],
      kind: "ready",
    },
    {
      what: "the first attempt after a failure of an older spec",
      status: { ...retried, observedGeneration: 3, conditions: degradedAt(2) },
      kind: "configuring",
    },
    { what: "a failure of an older spec", status: { ...refused, observedGeneration: 2 }, kind: "configuring" },
    {
      what: "a problem of the spec",
      status: { interfaces: [nic({ pciAddress: "0000:5e:00.0" })], observedGeneration: 2 },
      kind: "failed",
    },
  ])("$what: $kind", ({ status, wasReady = false, kind, ...options }) => {
    expect(progressOf(stateOf(status), spec, { ...options, wasReady }).kind).toBe(kind);
  });

  it("has failed for the PFs that ask for a device of the host that is missing, and not for others", () => {
    const vfGroups = [{ vfRange: "0-0", needVhostNet: true }];
    const asking = { interfaces: [{ pciAddress: "0000:3b:00.0", mtu: 9000, vfGroups }] };
    const system = { missingVhostDevices: ["/dev/vhost-net is missing: load kernel module on vhost_net: ENOENT"] };
    const status = { ...done, system, observedGeneration: 3 };
    const metadata = { name: "worker-1", generation: 3 };
    const state = toCachedNodeState({ apiVersion, kind: "SriovNetworkNodeState", metadata, spec: asking, status });
    const of = (pciAddress: string) => progressOf(state, asking, { pciAddresses: [pciAddress], wasReady: true });
    expect(of("0000:3b:00.0")).toEqual({
      kind: "failed",
      message: "needVhostNet: /dev/vhost-net is missing: load kernel module on vhost_net: ENOENT",
    });
    expect(of("0000:5e:00.0")).toEqual({ kind: "ready" });
  });

  it("is configuring while a PF waits for a change of its firmware, or for a reboot", () => {
    const metadata = { name: "worker-1", generation: 3 };
    const pciAddress = "0000:3b:00.0";
    const firmware = { numVfs: { current: 4, next: 4 }, sriovEnabled: { current: true, next: true } };
    const card = nic({ pciAddress, vendor: "15b3", deviceID: "1017", totalvfs: 4, numVfs: 0 });
    const wanted = { interfaces: [{ pciAddress, numVfs: 6 }] };
    for (const resetAllowed of [true, false]) {
      const status = {
        ...done,
        observedGeneration: 3,
        interfaces: [{ ...card, firmware: { ...firmware, resetAllowed } }],
      };
      const facts = toCachedNodeState({ apiVersion, kind: "SriovNetworkNodeState", metadata, spec: wanted, status });
      expect(progressOf(facts, wanted, { pciAddresses: [pciAddress], wasReady: true }).kind).toBe("configuring");
    }
  });

  it("is configuring while the state is missing or has another spec", () => {
    const state = stateOf({ ...done, observedGeneration: 3 });
    expect(progressOf(undefined, spec, { wasReady: true }).kind).toBe("configuring");
    expect(progressOf(state, { interfaces: [] }, { wasReady: true }).kind).toBe("configuring");
  });
});
