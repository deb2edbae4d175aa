// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, daemonManager, sriovNetworkNodeStates, type SriovNetworkNodeState } from "@switchyard/api";
import type { Transport, TransportRequest } from "@switchyard/kube";
import { formatVfSet, type VfSet } from "@switchyard/policy";
import { announceVfs, isDrainedFor, nextRequest, requestDrain, setDrainer, withdrawRequest } from "./drain-request.ts";

const never = new AbortController().signal;

function stateWith(request?: string, answer?: string): SriovNetworkNodeState {
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodeState",
    metadata: {
      name: "worker-1",
      namespace: "ns",
      annotations: {
        ...(request === undefined ? {} : { [annotations.desiredState]: request }),
        ...(answer === undefined ? {} : { [annotations.currentState]: answer }),
      },
    },
  };
}

describe("isDrainedFor", () => {
  it.each([
    { needed: "Drain_Required", request: "Drain_Required", answer: "DrainComplete", is: true },
    { needed: "Drain_Required", request: "Reboot_Required", answer: "DrainComplete", is: true },
    { needed: "Reboot_Required", request: "Reboot_Required", answer: "DrainComplete", is: true },
    { needed: "Reboot_Required", request: "Drain_Required", answer: "DrainComplete", is: false },
    { needed: "Drain_Required", request: "Drain_Required", answer: "Draining", is: false },
    { needed: "Drain_Required", request: "Idle", answer: "DrainComplete", is: false },
    { needed: "Drain_Required", request: undefined, answer: "DrainComplete", is: false },
  ] as const)("is $is for $needed after $request, $answer", ({ needed, request, answer, is }) => {
    expect(isDrainedFor(needed, stateWith(request, answer))).toBe(is);
  });
});

describe("a request for single VFs", () => {
  const pf = "0000:3b:00.0";
  const all: VfSet = new Map([[pf, "all"]]);
  const two: VfSet = new Map([[pf, new Set([2, 3])]]);
  const other: VfSet = new Map([["0000:5e:00.0", "all"]]);

  /** A state that asks for these VFs. */
  function asking(vfs: VfSet | undefined, request: string, answer: string): SriovNetworkNodeState {
    const state = stateWith(request, answer);
    if (vfs === undefined) return state;
    const notes = { ...state.metadata.annotations, [annotations.drainVfs]: formatVfSet(vfs) };
    return { ...state, metadata: { ...state.metadata, annotations: notes } };
  }

  it.each([
    { does: "covers the same VFs", asked: all, needed: all, covers: true },
    { does: "covers some of them", asked: all, needed: two, covers: true },
    { does: "does not cover more", asked: two, needed: all, covers: false },
    { does: "does not cover others", asked: all, needed: other, covers: false },
    { does: "does not cover the node", asked: all, needed: undefined, covers: false },
    { does: "is covered by one of the node", asked: undefined, needed: all, covers: true },
  ])("$does", ({ asked, needed, covers }) => {
    expect(isDrainedFor("Drain_Required", asking(asked, "Drain_Required", "DrainComplete"), needed)).toBe(covers);
    for (const answer of ["Idle", "Draining", "DrainComplete"]) {
      const next = nextRequest("Drain_Required", asking(asked, "Drain_Required", answer), needed);
      expect(next).toBe(covers ? "Drain_Required" : "Idle");
    }
  });

  it("is repeated as one of the node while a script asks for a reboot", () => {
    expect(isDrainedFor("Drain_Required", asking(undefined, "Reboot_Required", "DrainComplete"), all)).toBe(true);
    expect(nextRequest("Reboot_Required", asking(all, "Drain_Required", "Draining"))).toBe("Idle");
  });

  async function writesOf(run: (transport: Transport) => Promise<unknown>): Promise<unknown> {
    const written: unknown[] = [];
    await run(
      asTransport({
        request: ({ path, body }) => {
          const { metadata } = JSON.parse(JSON.stringify(body)) as { metadata: object };
          written.push([path.split("/").at(-2), metadata]);
          return Promise.resolve({});
        },
      }),
    );
    return written;
  }

  it("is announced, then written in one piece, and withdrawn in one piece", async () => {
    const carrier = (state: SriovNetworkNodeState) => ({ type: sriovNetworkNodeStates, metadata: state.metadata });
    const announced = asking(all, "Idle", "Idle");
    const asked = asking(all, "Drain_Required", "Idle");
    const [vfs, request] = [annotations.drainVfs, annotations.desiredState];
    const onState = (values: object) => ["sriovnetworknodestates", { annotations: values }];
    const onNode = (value: string) => ["nodes", { annotations: { [annotations.nodeState]: value } }];
    const none = asking(undefined, "Idle", "Idle");
    expect(await writesOf((to) => announceVfs(all, carrier(none), to, never))).toEqual([onState({ [vfs]: pf })]);
    expect(await writesOf((to) => requestDrain("Drain_Required", carrier(announced), to, never, all))).toEqual([
      onState({ [request]: "Drain_Required" }),
      onNode("Drain_Required"),
    ]);
    expect(await writesOf((to) => requestDrain("Drain_Required", carrier(announced), to, never))).toEqual([
      onState({ [request]: "Drain_Required", [vfs]: null }),
      onNode("Drain_Required"),
    ]);
    expect(await writesOf((to) => withdrawRequest(carrier(asked), to, never))).toEqual([
      onNode("Idle"),
      onState({ [request]: "Idle", [vfs]: null }),
    ]);
    expect(await writesOf((to) => withdrawRequest(carrier(announced), to, never))).toEqual([onState({ [vfs]: null })]);
    expect(await writesOf((to) => withdrawRequest(carrier(none), to, never))).toEqual([]);
  });
});

describe("nextRequest", () => {
  it.each([
    {
      does: "requests the drain if no other drain is active",
      needed: "Drain_Required",
      request: "Idle",
      answer: "Idle",
      next: "Drain_Required",
    },
    { does: "requests the drain on a new node", needed: "Drain_Required", next: "Drain_Required" },
    {
      does: "requests a larger drain while it waits",
      needed: "Reboot_Required",
      request: "Drain_Required",
      answer: "Idle",
      next: "Reboot_Required",
    },
    {
      does: "requests a smaller drain while it waits",
      needed: "Drain_Required",
      request: "Reboot_Required",
      answer: "Idle",
      next: "Drain_Required",
    },
    {
      does: "keeps its request during the drain",
      needed: "Drain_Required",
      request: "Drain_Required",
      answer: "Draining",
      next: "Drain_Required",
    },
    {
      does: "accepts a full drain",
      needed: "Drain_Required",
      request: "Reboot_Required",
      answer: "Draining",
      next: "Reboot_Required",
    },
    {
      does: "ends a drain that is too small",
      needed: "Reboot_Required",
      request: "Drain_Required",
      answer: "Draining",
      next: "Idle",
    },
    {
      does: "ends a completed drain that is too small",
      needed: "Reboot_Required",
      request: "Drain_Required",
      answer: "DrainComplete",
      next: "Idle",
    },
    {
      does: "waits for the end of an old drain",
      needed: "Drain_Required",
      request: "Idle",
      answer: "DrainComplete",
      next: "Idle",
    },
  ] as const)("$does", ({ needed, next, ...before }) => {
    const { request, answer } = { request: undefined, answer: undefined, ...before };
    expect(nextRequest(needed, stateWith(request, answer))).toBe(next);
  });
});

/** A transport to an API server with the request in `node`, which `manager` wrote. It fails after `writes` writes. */
function apiServer(
  node: string,
  { manager = daemonManager, writes = Infinity }: { readonly manager?: string; readonly writes?: number } = {},
) {
  const values: { node: string; state?: string } = { node };
  let count = 0;
  const transport = asTransport({
    request({ method, path, query, body }: TransportRequest) {
      const text = JSON.stringify(body);
      if (method === "GET") {
        const fieldsV1 = { "f:metadata": { "f:annotations": { [`f:${annotations.nodeState}`]: {} } } };
        const metadata = { name: "worker-1", annotations: { [annotations.nodeState]: values.node } };
        const managedFields = [{ manager, operation: "Update", fieldsV1 }];
        return Promise.resolve({ apiVersion: "v1", kind: "Node", metadata: { ...metadata, managedFields } });
      }
      if (++count > writes) return Promise.reject(new Error("killed"));
      const request = text.includes("Drain_Required") ? "Drain_Required" : "Idle";
      if (path.includes("/nodes/")) {
        expect(query).toEqual({ fieldManager: daemonManager });
        values.node = request;
      } else values.state = request;
      return Promise.resolve({});
    },
  });
  return { values, transport };
}

describe("requestDrain", () => {
  /** Returns what an API server contains that fails after this number of writes; "" for nothing. */
  async function written(
    request: "Idle" | "Drain_Required",
    { state, answer }: { readonly state?: string; readonly answer?: string },
    dyingAfter = Infinity,
  ) {
    const { values, transport } = apiServer("", { writes: dyingAfter });
    const carrier = { type: sriovNetworkNodeStates, ...stateWith(state, answer) };
    await requestDrain(request, carrier, transport, never).catch(() => undefined);
    return { node: values.node, state: values.state ?? state ?? "" };
  }

  it("writes the request to both objects", async () => {
    const both = { node: "Drain_Required", state: "Drain_Required" };
    expect(await written("Drain_Required", { state: "Idle" })).toEqual(both);
  });

  it("withdraws the request on both objects", async () => {
    expect(await written("Idle", { state: "Drain_Required" })).toEqual({ node: "Idle", state: "Idle" });
  });

  it("leaves a request on the NodeState if it is killed in between, so that the next pass continues", async () => {
    expect(await written("Drain_Required", { state: "Idle" }, 1)).toEqual({ node: "", state: "Drain_Required" });
    expect(await written("Drain_Required", { state: "Drain_Required" })).toEqual({
      node: "Drain_Required",
      state: "Drain_Required",
    });
    expect(await written("Idle", { state: "Drain_Required" }, 1)).toEqual({ node: "Idle", state: "Drain_Required" });
  });

  it("ends a drain that is requested on the Node alone, because the NodeState was created again", async () => {
    for (const answer of ["Draining", "DrainComplete"]) {
      expect(await written("Idle", { state: "Idle", answer })).toEqual({ node: "Idle", state: "Idle" });
    }
  });

  it("writes nothing if nothing is requested", async () => {
    expect(await written("Idle", { state: "Idle", answer: "Idle" })).toEqual({ node: "", state: "Idle" });
    expect(await written("Idle", {})).toEqual({ node: "", state: "" });
  });
});

describe("withdrawRequest", () => {
  it.each([
    {
      does: "withdraws the request on both objects",
      state: "Drain_Required",
      answer: "Draining",
      manager: daemonManager,
      node: "Idle",
    },
    {
      does: "withdraws a request that only the Node still has",
      state: "Idle",
      answer: "Draining",
      manager: daemonManager,
      node: "Idle",
    },
    {
      does: "leaves the request of a script on the Node",
      state: "Idle",
      answer: "Draining",
      manager: "kubectl-annotate",
      node: "Drain_Required",
    },
    {
      does: "leaves a request that the operator has not answered to a later pass",
      state: "Idle",
      answer: "Idle",
      manager: daemonManager,
      node: "Drain_Required",
    },
  ])("$does", async ({ state, answer, manager, node }) => {
    const { values, transport } = apiServer("Drain_Required", { manager });
    const carrier = { type: sriovNetworkNodeStates, ...stateWith(state, answer) };
    expect(await withdrawRequest(carrier, transport, never)).toBe(node === "Idle");
    expect([values.node, values.state ?? state]).toEqual([node, "Idle"]);
  });
});

describe("setDrainer", () => {
  it.each([
    { does: "names the external drainer", isExternal: true, state: stateWith("Idle", "Idle"), writes: ["true"] },
    { does: "names the external drainer on a new node", isExternal: true, state: stateWith(), writes: ["true"] },
    { does: "writes it once", isExternal: true, state: external(stateWith("Idle", "Idle")), writes: [] },
    { does: "returns drains to the operator", isExternal: false, state: external(stateWith()), writes: [null] },
    { does: "writes nothing for the operator", isExternal: false, state: stateWith(), writes: [] },
    {
      does: "changes nothing during a drain",
      isExternal: true,
      state: stateWith("Drain_Required", "Idle"),
      writes: [],
    },
    {
      does: "changes nothing until the request is answered",
      isExternal: false,
      state: external(stateWith("Idle", "Draining")),
      writes: [],
    },
  ])("$does", async ({ isExternal, state, writes }) => {
    const written: unknown[] = [];
    const transport = asTransport({
      request: ({ body }) => {
        written.push(JSON.parse(JSON.stringify(body)));
        return Promise.resolve({});
      },
    });
    await setDrainer(isExternal, state, transport, new AbortController().signal);
    const annotated = writes.map((value) => ({
      metadata: { annotations: { [annotations.useExternalDrainer]: value } },
    }));
    expect(written).toEqual(annotated);
  });
});

function external(state: SriovNetworkNodeState): SriovNetworkNodeState {
  const notes = { ...state.metadata.annotations, [annotations.useExternalDrainer]: "true" };
  return { ...state, metadata: { ...state.metadata, annotations: notes } };
}

function asTransport(partial: Pick<Transport, "request">): Transport {
  return {
    ...partial,
    namespace: "ns",
    watch: () => {
      throw new Error("not watched here");
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
