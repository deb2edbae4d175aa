// SPDX-License-Identifier: Apache-2.0
/**
 * goDaemon plays the config daemon of upstream's operator on a fake kernel. The real one reads the sysfs of its machine. This one
 * creates VFs and bridges from the spec that the real operator writes, takes part in the real drain handshake, and reports.
 */
import { annotations, nodes, sriovNetworkNodeStates, type InterfaceSpec } from "@switchyard/api";
import { pci, type FakeKernel } from "@switchyard/host/testing";
import { isKubeError, isRecord, type KubeObject } from "@switchyard/kube";
import { isDeepStrictEqual } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { fieldAt } from "../src/api/plain-api.ts";
import { upstream, type UpstreamCluster } from "../src/operator/upstream-cluster.ts";
import type { InProcess } from "../src/pods/run-pods.ts";
import { configureAsUpstream, statusByUpstream } from "../upgrade/upstream-host.ts";
import { configureBridges, hasBridges, managedBridges } from "./go-bridges.ts";

/** A node's daemon. */
export interface GoDaemonOptions {
  readonly testCluster: UpstreamCluster;
  readonly node: string;
  readonly kernel: FakeKernel;
  /** What it requests before it changes a number of VFs. */
  readonly requests?: "Drain_Required" | "Reboot_Required";
  /** Where its first life ends: before it configures a drained node, or before it reports it. */
  readonly endsAt?: "drained" | "configured";
}

/** A pod of the real daemon needs seconds to start, and to read its configuration. */
const startMs = 10_000;
const intervalMs = 200;

/** Returns the program of the node's daemon pods. */
export function goDaemon({
  testCluster,
  node,
  kernel,
  requests = "Drain_Required",
  endsAt,
}: GoDaemonOptions): InProcess {
  const daemon = testCluster.as(upstream.daemon);

  const request = async (state: string): Promise<void> => {
    await daemon.patch(nodes, node, { metadata: { annotations: { [annotations.nodeState]: state } } });
    const metadata = { annotations: { [annotations.desiredState]: state } };
    await daemon.patch(sriovNetworkNodeStates, node, { metadata });
  };

  async function report(state: KubeObject): Promise<void> {
    const rdmaMode = await kernel.host().rdma.readMode();
    const interfaces = await statusByUpstream(kernel);
    const system = rdmaMode === undefined ? {} : { rdmaMode };
    const bridges = await managedBridges(kernel);
    const status = { bridges, interfaces, syncStatus: "Succeeded", system };
    if (isDeepStrictEqual(fieldAt(state, "status"), status)) return;
    await daemon.update(sriovNetworkNodeStates, Object.assign({}, state, { status }), "status");
  }

  async function pass(): Promise<void> {
    const state = await testCluster.find(sriovNetworkNodeStates, node);
    if (state === undefined) return;
    const { desired, current } = handshake(state);
    if (desired === undefined || current === undefined) return;
    const wanted = await changesFor(kernel, state);
    const bridges = fieldAt(state, "spec", "bridges") ?? {};
    const changesBridges = !(await hasBridges(kernel, bridges));
    const isDisruptive = changesBridges || wanted.some(({ existing }) => existing > 0);
    if (isDisruptive && current !== "DrainComplete") {
      if (desired !== requests) await request(requests);
      return;
    }
    if (current === "Draining") return;
    if (current === "DrainComplete" && endsAt === "drained") return;
    for (const { spec, existing } of wanted) {
      if (existing > 0) await kernel.host().sriov.setNumVfs(pci(spec.pciAddress), 0);
      await configureAsUpstream(kernel, spec);
    }
    if (changesBridges) await configureBridges(kernel, bridges);
    if (current === "DrainComplete" && endsAt === "configured") return;
    if (desired !== "Idle") await request("Idle");
    await report(state);
  }

  return {
    async run(_pod, signal) {
      await sleep(startMs, undefined, { signal }).catch(() => undefined);
      while (!signal.aborted) {
        await pass().catch((error: unknown) => {
          // Another program has changed the object since it was read. What else is refused is a fault of this stand-in.
          if (!isKubeError(error, "Conflict")) throw new Error(`the daemon of ${node} failed`, { cause: error });
        });
        await sleep(intervalMs, undefined, { signal }).catch(() => undefined); // it ends with its pod
      }
    },
  };
}

/** The daemon's request and the operator's answer. */
export function handshake({ metadata }: KubeObject): {
  readonly desired: string | undefined;
  readonly current: string | undefined;
} {
  const values = metadata.annotations ?? {};
  return { desired: values[annotations.desiredState], current: values[annotations.currentState] };
}

/** The PFs whose number of VFs, or whose record, is not that of the spec, with the number of their VFs. */
async function changesFor(
  kernel: FakeKernel,
  state: KubeObject,
): Promise<readonly { readonly spec: InterfaceSpec; readonly existing: number }[]> {
  const specs = interfacesOf(state);
  const [pfs, records] = await Promise.all([kernel.host().sriov.listPfs(), kernel.host().records.list()]);
  return specs.flatMap((spec) => {
    const pf = pfs.find(({ pciAddress }) => pciAddress === spec.pciAddress);
    const existing = pf?.sriov?.numVfs ?? 0;
    if (existing === spec.numVfs && records.has(pci(spec.pciAddress))) return [];
    return [{ spec, existing: spec.externallyManaged === true ? 0 : existing }];
  });
}

/** The interfaces that the operator has written. */
function interfacesOf(state: KubeObject): readonly InterfaceSpec[] {
  const interfaces = fieldAt(state, "spec", "interfaces");
  return (Array.isArray(interfaces) ? interfaces : []).filter(isInterfaceSpec);
}

/** The API server has checked the rest by the CustomResourceDefinition. */
function isInterfaceSpec(value: unknown): value is InterfaceSpec {
  return isRecord(value) && typeof value["pciAddress"] === "string";
}
