// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { isRecord, KubeError, type TransportRequest } from "@switchyard/kube";
import { evictPod } from "./evict-pod.ts";
import { pod } from "../testing/drain-cluster.ts";

const never = new AbortController().signal;
const tried = "POST /api/v1/namespaces/apps/pods/web/eviction";

/** Returns the result of an eviction of apps/web to which the API server responds with this error. */
async function evict(answer: () => unknown, signal = never) {
  const requests: TransportRequest[] = [];
  const request = async (sent: TransportRequest): Promise<unknown> => {
    requests.push(sent);
    await Promise.resolve();
    return answer();
  };
  return { result: await evictPod(pod("web"), { request }, signal), requests };
}

function refusal(code: string, why: ConstructorParameters<typeof KubeError>[2] = {}) {
  return () => {
    throw new KubeError(tried, code, why);
  };
}

describe("evictPod", () => {
  it("evicts the pod with this uid and its own grace period", async () => {
    const { result, requests } = await evict(() => ({}));
    expect(result).toEqual({ kind: "accepted" });
    const [sent] = requests;
    expect([sent?.method, sent?.path]).toEqual(["POST", "/api/v1/namespaces/apps/pods/web/eviction"]);
    expect(isRecord(sent?.body) && sent.body["deleteOptions"]).toEqual({ preconditions: { uid: "uid-web" } });
  });

  it.each(["NotFound", "Conflict"])(
    "takes a pod that is gone, or another of its name, for evicted: %s",
    async (code) => {
      expect((await evict(refusal(code))).result).toEqual({ kind: "accepted" });
    },
  );

  it("returns the message of the PodDisruptionBudget and the delay that the API server asks for", async () => {
    const message = "The disruption budget web is still being processed by the server.";
    const details = { causes: [{ reason: "DisruptionBudget", message }] };
    const words = "Cannot evict pod as it would violate the pod's disruption budget.";
    const { result } = await evict(refusal("TooManyRequests", { words, details, status: 429, retryAfterMs: 10_000 }));
    expect(result).toEqual({ kind: "refused", message, retryAfterMs: 10_000 });
  });

  it.each([
    {
      when: "two PodDisruptionBudgets apply, which the API server does not support",
      code: "InternalError",
      words: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    },
    { when: "its namespace is being deleted", code: "Forbidden", words: "because it is being terminated" },
    { when: "a webhook hangs", code: "Timeout", words: "no answer within 10000 ms" },
    { when: "the connection is cut", code: "ConnectionLost", words: "ECONNRESET" },
  ])("returns a refusal with the API server's message if $when", async ({ code, words }) => {
    const { result } = await evict(refusal(code, { words }));
    expect(result).toEqual({ kind: "refused", message: `${tried}: ${code} (${words})`, retryAfterMs: undefined });
  });

  it("rejects when the signal aborts, even if the reason is a KubeError", async () => {
    const stop = new AbortController();
    const reason = new KubeError("drain a", "Timeout");
    const aborted = evict(() => {
      stop.abort(reason);
      throw reason;
    }, stop.signal);
    await expect(aborted).rejects.toBe(reason);
  });
});
