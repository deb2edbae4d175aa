// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { KubeError, type TransportRequest } from "@switchyard/kube";
import { createScrapeReview } from "./review-scrape.ts";

/** An API server that knows two tokens, one of them with the right to read metrics. */
function setUp() {
  const asked: string[] = [];
  let isDown = false;
  let nowMs = 0;
  const request = ({ path, body }: TransportRequest): Promise<unknown> => {
    if (isDown) return Promise.reject(new KubeError(path, "ConnectionLost"));
    const { spec } = body as { readonly spec: { readonly token?: string; readonly user?: string } };
    asked.push(path.slice(path.lastIndexOf("/") + 1));
    if (spec.user !== undefined) return Promise.resolve({ status: { allowed: spec.user === "prometheus" } });
    const username = { good: "prometheus", other: "jane" }[spec.token ?? ""];
    return Promise.resolve({
      status: username ? { authenticated: true, user: { username } } : { authenticated: false },
    });
  };
  return {
    asked,
    review: createScrapeReview({ request }, { nowMs: () => nowMs }),
    pass(ms: number) {
      nowMs += ms;
    },
    stop() {
      isDown = true;
    },
  };
}

describe("createScrapeReview", () => {
  it("allows a token with the right, and asks once a minute", async () => {
    const { review, asked, pass } = setUp();
    expect(await review("good")).toBe("allowed");
    expect(await review("good")).toBe("allowed");
    expect(asked).toEqual(["tokenreviews", "subjectaccessreviews"]);
    pass(61_000);
    await review("good");
    expect(asked).toHaveLength(4);
  });

  it("refuses unknown tokens, and tokens without the right", async () => {
    const { review } = setUp();
    expect(await review("bad")).toBe("unauthenticated");
    expect(await review("other")).toBe("forbidden");
  });

  it("allows in an outage only who was allowed within the last hour", async () => {
    const { review, pass, stop } = setUp();
    await review("good");
    await review("bad");
    stop();
    pass(30 * 60_000);
    expect(await Promise.all([review("good"), review("bad")])).toEqual(["allowed", "unknown"]);
    pass(31 * 60_000);
    expect(await review("good")).toBe("unknown");
  });

  it("keeps who is allowed while others send thousands of tokens", async () => {
    const { review, asked } = setUp();
    await review("good");
    for (let index = 0; index < 1_000; index++) await review(`bad-${index}`);
    const before = asked.length;
    expect(await review("good")).toBe("allowed");
    expect(asked).toHaveLength(before);
  });
});
