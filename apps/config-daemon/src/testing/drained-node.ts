// SPDX-License-Identifier: Apache-2.0
/** drainedNode runs passes of the daemon on a node with one card, whose operator answers each request for a drain. */
import type { SriovNetworkNodeState } from "@switchyard/api";
import { createFakeKernel, withQuirks, type DriverQuirks, type FakeNic } from "@switchyard/host/testing";
import { daemonOn, type DaemonTestOptions } from "./daemon-on.ts";

/** The answers are those of the drain controller, and come between two passes. */
export function drainedNode(nic: FakeNic, quirks: DriverQuirks = {}, options: DaemonTestOptions = {}) {
  const kernel = createFakeKernel({ nics: [withQuirks(nic, quirks)] });
  const daemon = daemonOn(kernel.host(), { drains: true, ...options });
  let [request, answer] = ["Idle", "Idle"];
  return {
    kernel,
    daemon,
    request: () => request,
    /** The present answer of the operator. */
    answer: () => answer,
    vfs: () => daemon.shown()[0]?.Vfs ?? [],
    /** Runs passes on the spec, and returns the result of the last one. */
    async pass(spec: SriovNetworkNodeState["spec"], count = 1) {
      let result = "";
      for (let nth = 1; nth <= count; nth++) {
        const annotations = {
          "sriovnetwork.openshift.io/desired-state": request,
          "sriovnetwork.openshift.io/current-state": answer,
        };
        const metadata = { name: "worker-1", generation: 1, annotations };
        const kind = { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetworkNodeState" } as const;
        result = await daemon.pass({ ...kind, metadata, ...(spec && { spec }) });
        request = daemon.requests.at(-1) ?? request;
        answer = request === "Idle" ? "Idle" : "DrainComplete";
      }
      return result;
    },
  };
}
