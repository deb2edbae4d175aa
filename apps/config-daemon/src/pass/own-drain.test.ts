// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, type AfxdpNetworkNodeState, type SriovNetworkNodeState } from "@switchyard/api";
import type { Transport, TransportRequest } from "@switchyard/kube";
import { createDrainDemand, createOwnDrain } from "./drain-demand.ts";

const never = new AbortController().signal;
const sriov: SriovNetworkNodeState = {
  apiVersion: "sriovnetwork.openshift.io/v1",
  kind: "SriovNetworkNodeState",
  metadata: { name: "worker-1" },
};

function afxdpState(request?: string, answer?: string): AfxdpNetworkNodeState {
  const handshake = {
    ...(request && { [annotations.desiredState]: request }),
    ...(answer && { [annotations.currentState]: answer }),
  };
  const metadata = { name: "worker-1", namespace: "ns", annotations: handshake };
  return { apiVersion: "afxdpnetwork.hns.dev/v1alpha1", kind: "AfxdpNetworkNodeState", metadata };
}

/** Returns what is written, as "kind request". */
async function writtenFor(isNeeded: boolean, state: AfxdpNetworkNodeState, sriovState?: SriovNetworkNodeState) {
  const written: string[] = [];
  const transport: Transport = {
    namespace: "ns",
    request({ path, body }: TransportRequest) {
      const request = /Drain_Required|Idle/.exec(JSON.stringify(body))?.[0] ?? "";
      written.push(`${path.includes("/nodes/") ? "Node" : "AfxdpNetworkNodeState"} ${request}`);
      return Promise.resolve({});
    },
    watch() {
      throw new Error("not watched here");
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const demand = createDrainDemand(() => undefined);
  demand.setNeeded(isNeeded);
  await createOwnDrain({ demand, transport }).sync(state, sriovState, never);
  return written;
}

describe("createOwnDrain", () => {
  it("requests a drain on both objects, and withdraws it when it is no longer needed", async () => {
    const both = ["AfxdpNetworkNodeState Drain_Required", "Node Drain_Required"];
    expect(await writtenFor(true, afxdpState())).toEqual(both);
    const drained = afxdpState("Drain_Required", "DrainComplete");
    expect(await writtenFor(false, drained)).toEqual(["Node Idle", "AfxdpNetworkNodeState Idle"]);
  });

  it("writes nothing on a node that needs no drain", async () => {
    expect(await writtenFor(false, afxdpState())).toEqual([]);
    expect(await writtenFor(false, afxdpState("Idle", "Idle"))).toEqual([]);
  });

  it("ends an old drain, which the Node may still request, before it requests the next one", async () => {
    expect(await writtenFor(true, afxdpState("Idle", "DrainComplete"))).toEqual(["Node Idle"]);
  });

  it("leaves requests to the SriovNetworkNodeState, and withdraws its own from the AfxdpNetworkNodeState only", async () => {
    expect(await writtenFor(true, afxdpState(), sriov)).toEqual([]);
    const draining = afxdpState("Drain_Required", "Draining");
    expect(await writtenFor(true, draining, sriov)).toEqual(["AfxdpNetworkNodeState Idle"]);
  });
});
