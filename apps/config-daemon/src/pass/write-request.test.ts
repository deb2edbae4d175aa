// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { annotations, err, ok, sriovNetworkNodeStates } from "@switchyard/api";
import { isRecord, KubeError, type Transport } from "@switchyard/kube";
import type { VfSet } from "@switchyard/policy";
import { createWithheldVfs, type WithheldVfs } from "./withheld-vfs.ts";
import { writeRequest } from "./write-request.ts";

const pf = "0000:3b:00.0";
const vf = "0000:3b:02.0";
const vfs: VfSet = new Map([[pf, "all"]]);
const found = {
  interfaces: [{ pciAddress: pf, Vfs: [{ vfID: 0, pciAddress: vf, name: "v0" }] }],
  holders: { known: true },
};

/** A node state whose annotations the daemon writes, and a device plugin. */
function setUp() {
  const node = {
    notes: { [annotations.desiredState]: "Idle" } as Record<string, string>,
    isOffered: true,
    doesKubeletAnswer: true,
    /** The annotations that the cache of the daemon shows; the present ones if undefined. */
    cached: undefined as Record<string, string> | undefined,
    /** Whether the API server refuses the VFs, as with the admission policy of an older operator. */
    isRefused: false,
    requests: [] as string[],
    daemon: startDaemon(),
    /** The annotations of the node state without their prefixes. */
    shown: () => [node.notes[annotations.desiredState], node.notes[annotations.drainVfs]],
    restart() {
      node.daemon = startDaemon();
    },
    pass() {
      const metadata = { name: "worker-1", namespace: "ns", annotations: { ...(node.cached ?? node.notes) } };
      return writeRequest(
        { request: "Drain_Required", vfs },
        {
          carrier: { type: sriovNetworkNodeStates, metadata },
          found,
          transport,
          withheldVfs: node.daemon,
          onRequest: (request) => node.requests.push(request),
          signal: new AbortController().signal,
        },
      );
    },
  };
  function startDaemon(): WithheldVfs {
    return createWithheldVfs({
      kubelet: {
        readOffered: () =>
          Promise.resolve(node.doesKubeletAnswer ? ok(new Set(node.isOffered ? [vf] : [])) : err("no answer")),
        readHolders: () => Promise.resolve(ok({ byId: new Map(), isNewKubelet: false })),
      },
      nowMs: () => 0,
    });
  }
  const transport = {
    async request({ path, body }: { readonly path: string; readonly body: unknown }) {
      await Promise.resolve();
      const metadata = isRecord(body) && isRecord(body["metadata"]) ? body["metadata"] : {};
      const changes = isRecord(metadata["annotations"]) ? metadata["annotations"] : {};
      if (!path.includes("nodestates")) return {};
      if (node.isRefused && changes[annotations.drainVfs] !== undefined && changes[annotations.drainVfs] !== null) {
        throw new KubeError("PATCH x", "Invalid", { status: 422 });
      }
      const next = Object.entries({ ...node.notes, ...changes });
      node.notes = Object.fromEntries(
        next.flatMap(([key, value]) => (typeof value === "string" ? [[key, value]] : [])),
      );
      return {};
    },
  } as unknown as Transport;
  return node;
}

describe("a request for the drain of single VFs", () => {
  it("is announced, and written once the VFs are not offered any more", async () => {
    const node = setUp();
    await node.pass();
    expect([node.shown(), node.requests, node.daemon.nextChangeMs()]).toEqual([["Idle", pf], [], 1_000]);
    node.isOffered = false;
    await node.pass();
    expect([node.shown(), node.requests]).toEqual([["Drain_Required", pf], ["Drain_Required"]]);
    expect(node.daemon.nextChangeMs()).toBeUndefined();
    node.isOffered = true; // it is not prepared twice
    await node.pass();
    expect(node.shown()).toEqual(["Drain_Required", pf]);
  });

  it("is written by the next daemon if this one is killed between withholding and drain", async () => {
    const node = setUp();
    await node.pass();
    node.restart();
    await node.pass();
    expect(node.shown()).toEqual(["Idle", pf]);
    node.restart();
    node.isOffered = false;
    await node.pass();
    expect(node.shown()).toEqual(["Drain_Required", pf]);
  });

  it("is not written before the node state shows the VFs, also if nothing offers them", async () => {
    const node = setUp();
    node.isOffered = false;
    await node.pass();
    expect(node.shown()).toEqual(["Idle", pf]);
    await node.pass();
    expect(node.shown()).toEqual(["Drain_Required", pf]);
  });

  it("is about the node if the kubelet does not answer, also if the cache does not show the VFs that were announced", async () => {
    const node = setUp();
    node.doesKubeletAnswer = false;
    await node.pass();
    expect(node.shown()).toEqual(["Drain_Required", undefined]);

    const later = setUp();
    later.cached = { ...later.notes };
    await later.pass();
    expect(later.shown()).toEqual(["Idle", pf]);
    later.doesKubeletAnswer = false;
    await later.pass();
    expect(later.shown()).toEqual(["Drain_Required", undefined]);
  });

  it("is about the node if the operator does not know the annotation", async () => {
    const node = setUp();
    node.isRefused = true;
    await node.pass();
    expect([node.shown(), node.requests]).toEqual([["Drain_Required", undefined], ["Drain_Required"]]);
  });
});
