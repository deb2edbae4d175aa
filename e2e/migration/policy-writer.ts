// SPDX-License-Identifier: Apache-2.0
/**
 * writePolicies creates a policy again and again without storing it, so that the API server asks the webhooks each time. It
 * remembers each answer that says that a webhook failed: a user could not have written a policy then.
 */
import { sriovNetworkNodePolicies } from "@switchyard/api";
import { collectionPath } from "@switchyard/kube";
import { namespace } from "@switchyard/test-cluster";
import { setTimeout as sleep } from "node:timers/promises";
import type { UpstreamCluster } from "../src/operator/upstream-cluster.ts";

export interface PolicyWriter extends AsyncDisposable {
  /** The refusals since a time (RFC 3339), each with its time. */
  refusals(since: string): readonly string[];
}

const intervalMs = 50;

/** Starts to write. Disposing the result ends it. */
export function writePolicies({ transport }: UpstreamCluster): PolicyWriter {
  const end = new AbortController();
  const refused: string[] = [];
  const path = collectionPath(sriovNetworkNodePolicies, namespace);
  const body = {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodePolicy",
    metadata: { name: "written-again", namespace },
    spec: {
      nodeSelector: { "kubernetes.io/hostname": "partitioned" },
      nicSelector: { pfNames: ["enp1s0f1"] },
      numVfs: 1,
      resourceName: "again",
    },
  };
  const loop = async (): Promise<void> => {
    while (!end.signal.aborted) {
      const request = { method: "POST", path, body, query: { dryRun: "All" }, signal: end.signal } as const;
      await transport.request(request).catch((error: unknown) => {
        if (!end.signal.aborted) refused.push(`${new Date().toISOString()} ${String(error)}`);
      });
      await sleep(intervalMs, undefined, { signal: end.signal }).catch(() => undefined); // it ends with the cluster
    }
  };
  const ended = loop();
  return {
    refusals: (since) => refused.filter((line) => line > since),
    async [Symbol.asyncDispose]() {
      end.abort();
      await ended;
    },
  };
}
