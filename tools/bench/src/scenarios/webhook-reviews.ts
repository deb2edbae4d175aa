// SPDX-License-Identifier: Apache-2.0
/** AdmissionReviews of changes to policies, and a client that sends them as the API server does. */
import { apiGroup, type SriovNetworkNodePolicy, type SriovNetworkNodePolicySpec } from "@switchyard/api";
import { isRecord } from "@switchyard/kube";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { firstPolicy, operatorNamespace, pfName, type FleetProfile } from "../cluster/nodes.ts";
import { BenchError } from "../harness/run.ts";

/** A review and its correct decision. */
export interface KnownReview {
  /** The body of the request. */
  readonly text: string;
  readonly allowed: boolean;
}

/** Builds a different review for each index, so that the webhook cannot use cached results. */
export interface Reviews {
  /** A valid new policy for all nodes. */
  creation(index: number): KnownReview;
  /** A changed numVfs in an existing policy for all nodes. */
  change(index: number): KnownReview;
  /** New policies. Every second one is invalid, for one of several reasons. */
  mixed(index: number): KnownReview;
}

export function createReviews(profile: FleetProfile): Reviews {
  // VFs of the second PF that no policy uses.
  const firstFree = profile.pfs > 2 ? 16 : 36;
  const free = 128 - firstFree;
  const fresh = (index: number, spec: Partial<SriovNetworkNodePolicySpec> = {}): SriovNetworkNodePolicy => {
    const vf = firstFree + (index % free);
    const old = firstPolicy(1);
    return {
      ...old,
      metadata: { ...old.metadata, name: `new-${index}` },
      spec: {
        ...old.spec,
        resourceName: `new${index}`,
        numVfs: 128,
        nicSelector: { pfNames: [`${pfName(1)}#${vf}-${vf}`] },
        ...spec,
      },
    };
  };
  const creation = (index: number, spec?: Partial<SriovNetworkNodePolicySpec>) =>
    reviewOf(`creation-${index}`, { object: fresh(index, spec) });

  return {
    creation: (index) => ({ text: creation(index), allowed: true }),
    change(index) {
      const oldObject = firstPolicy(profile.numVfs);
      const numVfs = 1 + (index % (profile.numVfs - 1));
      const object = { ...oldObject, spec: { ...oldObject.spec, numVfs, mtu: 1500 + (index % 7) } };
      return { text: reviewOf(`change-${index}`, { object, oldObject }), allowed: true };
    },
    mixed(index) {
      const wrong = wrongs[(index >> 1) % wrongs.length];
      return index % 2 === 0 || wrong === undefined
        ? { text: creation(index), allowed: true }
        : { text: creation(index, wrong), allowed: false };
    },
  };
}

/** Specs that are invalid because of the nodes or of other policies. */
const wrongs: readonly Partial<SriovNetworkNodePolicySpec>[] = [
  { numVfs: 129 },
  { nicSelector: { pfNames: [`${pfName(0)}#0-3`] } },
  { nicSelector: { pfNames: ["ens99f0"] } },
  { mtu: 60_000 },
  { vdpaType: "virtio", eSwitchMode: "switchdev" },
  { resourceName: "resource0", excludeTopology: true },
];

interface Objects {
  readonly object: SriovNetworkNodePolicy;
  readonly oldObject?: SriovNetworkNodePolicy;
}

function reviewOf(uid: string, { object, oldObject }: Objects): string {
  const { name } = object.metadata;
  const resource = { group: apiGroup, version: "v1", resource: "sriovnetworknodepolicies" };
  const kind = { group: apiGroup, version: "v1", kind: "SriovNetworkNodePolicy" };
  const request = {
    uid,
    kind,
    resource,
    requestKind: kind,
    requestResource: resource,
    name,
    namespace: operatorNamespace,
    operation: oldObject === undefined ? "CREATE" : "UPDATE",
    userInfo: { username: "jane", groups: ["team-network", "system:authenticated"] },
    object,
    oldObject: oldObject ?? null,
    dryRun: false,
    options: { kind: oldObject === undefined ? "CreateOptions" : "UpdateOptions", apiVersion: "meta.k8s.io/v1" },
  };
  return JSON.stringify({ kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", request });
}

export interface ReviewAnswer {
  /** Milliseconds from the first byte of the request to the last byte of the answer. */
  readonly ms: number;
  readonly allowed: boolean;
  /** The decision with its reasons, as text. */
  readonly decision: string;
  /** The warnings, which are not part of the decision: the webhook omits those that take too long. */
  readonly warnings: string;
}

/** Sends reviews over HTTPS, with persistent connections. */
export interface ReviewClient extends Disposable {
  /** Rejects with BenchError `refused` if the answer is not an AdmissionReview. */
  ask(path: string, text: string): Promise<ReviewAnswer>;
}

/** More connections than any load needs. */
const maxSockets = 16;

export function createReviewClient(port: number, ca: string): ReviewClient {
  const agent = new Agent({ keepAlive: true, maxSockets, ca });
  return {
    async ask(path, text) {
      const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
      const beginMs = performance.now();
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        request({ host: "127.0.0.1", port, path, method: "POST", agent, headers }, resolve)
          .once("error", reject)
          .end(text);
      });
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      await once(response, "end");
      const ms = performance.now() - beginMs;
      return { ms, ...readAnswer(response.statusCode ?? 0, Buffer.concat(chunks).toString("utf8")) };
    },
    [Symbol.dispose]() {
      agent.destroy();
    },
  };
}

function readAnswer(status: number, body: string): Omit<ReviewAnswer, "ms"> {
  const review: unknown = status === 200 ? JSON.parse(body) : undefined;
  const response = isRecord(review) ? review["response"] : undefined;
  if (!isRecord(response) || typeof response["allowed"] !== "boolean") {
    throw new BenchError("refused", `the webhook answered a review with status ${status}: ${body.slice(0, 500)}`);
  }
  const { allowed, warnings = [], status: why } = response;
  return { allowed, decision: JSON.stringify([allowed, why]), warnings: JSON.stringify(warnings) };
}
