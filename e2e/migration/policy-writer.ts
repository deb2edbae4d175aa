// SPDX-License-Identifier: Apache-2.0
/**
 * writePolicies creates two policies again and again without storing them, so that the API server asks the webhooks each time. It
 * remembers when the good one was refused: a user could not have written a policy then. And it remembers when the bad one was
 * admitted, which requests more VFs than the NIC has: no webhook has reviewed it then.
 */
import { sriovNetworkNodePolicies } from "@switchyard/api";
import { collectionPath } from "@switchyard/kube";
import { namespace } from "@switchyard/test-cluster";
import { setTimeout as sleep } from "node:timers/promises";
import type { UpstreamCluster } from "../src/operator/upstream-cluster.ts";

export interface PolicyWriter extends AsyncDisposable {
  /** The refusals since a time (RFC 3339), each with its time. */
  refusals(since: string): readonly string[];
  /** The time in which no webhook reviewed policies since a time (RFC 3339), in milliseconds. */
  unreviewedMs(since: string): number;
}

const intervalMs = 50;

/** Starts to write. Disposing the result ends it. */
export function writePolicies({ transport }: UpstreamCluster): PolicyWriter {
  const end = new AbortController();
  const refused: string[] = [];
  const unreviewed: string[] = [];
  const path = collectionPath(sriovNetworkNodePolicies, namespace);
  const policy = (numVfs: number) => ({
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodePolicy",
    metadata: { name: "written-again", namespace },
    spec: {
      nodeSelector: { "kubernetes.io/hostname": "partitioned" },
      nicSelector: { pfNames: ["enp1s0f1"] },
      numVfs,
      resourceName: "again",
    },
  });
  const send = (numVfs: number) =>
    transport.request({ method: "POST", path, body: policy(numVfs), query: { dryRun: "All" }, signal: end.signal });
  const loop = async (): Promise<void> => {
    while (!end.signal.aborted) {
      await send(1).catch((error: unknown) => {
        if (!end.signal.aborted) refused.push(`${new Date().toISOString()} ${String(error)}`);
      });
      await send(100).then(
        () => unreviewed.push(new Date().toISOString()),
        () => undefined, // as it must be
      );
      await sleep(intervalMs, undefined, { signal: end.signal }).catch(() => undefined); // it ends with the cluster
    }
  };
  const ended = loop();
  return {
    refusals: (since) => refused.filter((line) => line > since),
    unreviewedMs(since) {
      const times = unreviewed.filter((time) => time > since).map((time) => Date.parse(time));
      return times.length === 0 ? 0 : Math.max(...times) - Math.min(...times);
    },
    async [Symbol.asyncDispose]() {
      end.abort();
      await ended;
    },
  };
}
