// SPDX-License-Identifier: Apache-2.0
/** fillCluster creates the objects that exist when the webhook starts: nodes, node states, policies and pods. */
import {
  apiVersion,
  nodes as nodeType,
  operatorConfigName,
  pods,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  type SriovNetworkNodePolicy,
} from "@switchyard/api";
import { collectionPath, objectPath } from "@switchyard/kube";
import type { BenchCluster } from "../harness/bench-cluster.ts";
import { inParallel, metadataOnly, type PlainRequest } from "../harness/plain-client.ts";
import {
  firstPolicy,
  morePolicies,
  nodeName,
  nodeObject,
  operatorNamespace,
  reportedState,
} from "../fleet/fleet-objects.ts";
import type { Progress } from "../harness/progress.ts";
import { podObject } from "./pod-objects.ts";
import type { WebhookOptions } from "./webhook-options.ts";
import { reportedInterfaces, type WebhookProfile } from "./webhook-profile.ts";

export interface FillOptions {
  readonly cluster: BenchCluster;
  readonly options: WebhookOptions;
  readonly profile: WebhookProfile;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** As many policies as fit without overlap: 20 on six PFs, 10 on two. */
export function fleetPolicies(profile: WebhookProfile): readonly SriovNetworkNodePolicy[] {
  return [firstPolicy(profile.numVfs), ...morePolicies(profile, profile.pfs > 2 ? 19 : 9)];
}

export async function fillCluster({ cluster, options, profile, progress, signal }: FillOptions): Promise<void> {
  const { admin } = cluster;
  const ask = (request: PlainRequest) => admin.request({ accept: metadataOnly, ...request });

  async function make(what: string, count: number, work: (index: number) => Promise<unknown>): Promise<void> {
    let made = 0;
    progress.at(what, () => `${made} of ${count}`);
    const indexes = Array.from({ length: count }, (_, index) => index);
    await inParallel(indexes, connections, async (index) => {
      signal.throwIfAborted();
      await work(index);
      made += 1;
    });
  }

  const config = { apiVersion, kind: "SriovOperatorConfig", metadata: { name: operatorConfigName }, spec: {} };
  await ask({ method: "POST", path: collectionPath(sriovOperatorConfigs, operatorNamespace), body: config });
  await make("creating nodes", options.nodes, (index) =>
    ask({ method: "POST", path: collectionPath(nodeType), body: nodeObject(index) }),
  );
  await make("reporting their network cards", options.nodes, async (index) => {
    const { status: reported, ...state } = reportedState(profile, operatorNamespace, index);
    const status = { ...reported, interfaces: reportedInterfaces(profile, index) };
    await ask({ method: "POST", path: collectionPath(sriovNetworkNodeStates, operatorNamespace), body: state });
    const path = objectPath(sriovNetworkNodeStates, { name: nodeName(index), namespace: operatorNamespace }, "status");
    await ask({ method: "PATCH", path, body: { status }, contentType: "application/merge-patch+json" });
  });
  const policies = fleetPolicies(profile);
  await make("creating policies", policies.length, (index) =>
    ask({
      method: "POST",
      path: collectionPath(sriovNetworkNodePolicies, operatorNamespace),
      body: policies[index],
    }),
  );
  const resources = policies.map(({ spec }) => spec.resourceName);
  await make("creating pods", options.pods, (index) =>
    ask({
      method: "POST",
      path: collectionPath(pods, "default"),
      body: podObject(index, { nodes: options.nodes, resources }),
    }),
  );
}

const connections = 32;
